package dashboard

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

func TestPlaces_AreOneForAnAccount(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	p := newPlaces(2, busy)
	leave, err := p.enter(id.ID{1})
	require.NoError(t, err)
	_, err = p.enter(id.ID{1})
	require.ErrorIs(t, err, errSecond)
	_, err = p.enter(id.ID{2})
	require.NoError(t, err)
	_, err = p.enter(id.ID{3})
	require.ErrorIs(t, err, busy)
	leave()
	leave()
	require.Equal(t, 1, p.taken())
	again, err := p.enter(id.ID{1})
	require.NoError(t, err)
	leave() // of a place that was given back: nobody else's
	require.Equal(t, 2, p.taken())
	again()
}
