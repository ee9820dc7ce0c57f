package webhooks

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
)

// Failed deliveries are few among all deliveries, so the query must not read the others.
func TestReplay_OfFailedDeliveries_UsesTheirIndex(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	l := matching(webhook.Replay{SubscriptionID: id.ID{1}, Status: webhook.StatusFailed, From: time.Unix(0, 0),
		To: time.Now(), CreatedAt: time.Now()})
	rows, err := pool.Query(t.Context(), `EXPLAIN SELECT count(*) FROM deliveries`+l.WhereClause(), l.Args...)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, strings.Join(plan, "\n"), "deliveries_failed")
}
