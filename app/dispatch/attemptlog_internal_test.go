package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPerSecond_LinesBeyondTheBound_AreCountedInTheNextLine(t *testing.T) {
	t.Parallel()
	var lines perSecond
	now := time.Unix(1_790_000_000, 0)
	for range loggedPerSecond {
		leftOut, ok := lines.take(now)
		require.True(t, ok)
		require.Zero(t, leftOut)
	}
	for range 7 {
		_, ok := lines.take(now.Add(time.Second - 1))
		require.False(t, ok)
	}
	leftOut, ok := lines.take(now.Add(time.Second))
	require.True(t, ok)
	require.Equal(t, 7, leftOut)
	leftOut, ok = lines.take(now.Add(time.Second))
	require.True(t, ok)
	require.Zero(t, leftOut, "counted once")
}
