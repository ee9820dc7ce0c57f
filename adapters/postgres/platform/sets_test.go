package platform

import (
	"strings"
	"testing"

	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/lab/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestInserts_WriteEveryColumnOfTheirTable(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	pgtest.RequireColumns(t, pool, "outbox", strings.Split(sets.Names(tracedColumns), ", "), "committed_at", "position")
	pgtest.RequireColumns(t, pool, "idempotency_keys", strings.Split(sets.Names(responseColumns), ", "))
}
