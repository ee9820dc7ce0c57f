package wire

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

func TestOddRows_AreCountedEachTime_AndNamedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		counted := 0
		r := oddRows{log: slog.New(slog.NewTextHandler(&log, nil)), count: func(string) { counted++ }}
		for range 3 {
			for range 10 {
				r.met(t.Context(), "deposits", id.ID{1}, errors.New("infinite"))
				r.met(t.Context(), "deposits", id.ID{2}, errors.New("infinite"))
			}
			<-time.After(31 * time.Second)
		}
		require.Equal(t, 60, counted)
		require.Equal(t, 2, strings.Count(log.String(), "row="+id.ID{1}.String()))
		require.Equal(t, 2, strings.Count(log.String(), "table=deposits row="+id.ID{2}.String()))
	})
}
