//go:build !unit

package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/deposit"
)

// A dispatcher of an older version knows payments alone. Its answers end collections too.
func TestCollections_SettledByAnOlderProcess_EndWithTheirPayments(t *testing.T) {
	for status, want := range map[string]deposit.CollectionState{"succeeded": deposit.CollectionPaid,
		"failed": deposit.CollectionFailed} {
		t.Run(status, func(t *testing.T) {
			b := setup(t)
			depositID, collectionID := b.captured()
			b.exec(`UPDATE payments SET attempts = 3, check_at = $2 WHERE id = $1`, collectionID, b.Clock.Now().Add(day))
			require.Equal(t, deposit.CollectionScheduled, b.debt(depositID).State, "the older process is trying")
			b.exec(`UPDATE payments SET status = $2, settled_at = $3, attempts = 4, failure = 'card_declined' WHERE id = $1`,
				collectionID, status, b.Clock.Now())
			got := b.debt(depositID)
			require.Equal(t, []any{want, 4, true, b.Clock.Now()}, []any{got.State, got.Attempt, got.Answered, got.EndedAt})
			b.RequireCount(0, b.Payments.CheckDue)
		})
	}
}

func TestBacklog_CountsCollectionsByState(t *testing.T) {
	b := setup(t)
	paid, _ := b.captured()
	b.RequireCount(1, b.Payments.CheckDue)
	b.captured()
	b.exec(`UPDATE collections SET captured_at = now() - interval '1 hour' WHERE state = 'scheduled'`)
	counted, err := dispatchstore.NewBacklog(b.Pool).Backlog(b.Ctx())
	require.NoError(t, err)
	require.Equal(t, map[deposit.CollectionState]int{deposit.CollectionPaid: 1, deposit.CollectionScheduled: 1},
		counted.Collections.States)
	require.InDelta(t, time.Hour, counted.Collections.OldestAge, float64(5*time.Minute), "of those that are not over")
	require.Equal(t, deposit.CollectionPaid, b.debt(paid).State)
}
