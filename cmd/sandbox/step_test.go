package main

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStep_TellsHowLongItLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said []string
		say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		wait := func(d time.Duration, err error) func() error {
			return func() error { <-time.After(d); return err }
		}
		require.NoError(t, step(say, "installing", 5*time.Second, wait(12*time.Second, nil)))
		require.Equal(t, []string{"installing …", "installing … 5 s", "installing … 10 s", "installing: done in 12.0 s"},
			said)

		said, broken := nil, errors.New("no room")
		require.ErrorIs(t, step(say, "starting", 5*time.Second, wait(time.Second, broken)), broken)
		require.Equal(t, []string{"starting …"}, said)
	})
}
