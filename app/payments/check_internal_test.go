package payments

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// An entry of the audit log has this time, and commits a minute later at most (operations.md, "Admin CLI").
func TestSweep_AProviderThatIsSlow_EachItemHasTheTimeOfItsOwnBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{deps: Deps{Clock: wall{}}, provider: newGuard(&provider{}, wall{}, slog.New(slog.DiscardHandler))}
		take := func(context.Context, time.Time, int) ([]int, error) { return make([]int, 5*workers), nil }
		begun := time.Now()
		done, err := sweep(t.Context(), s, take, func(_ context.Context, _ int, now time.Time) (bool, error) {
			require.Equal(t, time.Now(), now)
			<-time.After(chargeTimeout)
			return true, nil
		}, func(int) []any { return nil })
		require.NoError(t, err)
		require.Equal(t, 5*workers, done)
		require.Equal(t, 5*chargeTimeout, time.Since(begun))
	})
}
