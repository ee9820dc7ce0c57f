package platform

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/lab/pgtest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

func TestInserts_WriteEveryColumnOfTheirTable(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	pgtest.RequireAllColumnsWritten(t, pool, "outbox", strings.Split(sets.ColumnNames(tracedColumns), ", "),
		"committed_at", "position")
	pgtest.RequireAllColumnsWritten(t, pool, "idempotency_keys", strings.Split(sets.ColumnNames(responseColumns), ", "))
}

// A process that was suspended, or that has lost Postgres, may have missed a restore.
func TestEpoch_NotReadForSeconds_IsUnknown(t *testing.T) {
	t.Parallel()
	var e RestoreEpoch
	e.known.Store(&knownEpoch{epoch: ports.RestoreEpoch{1}, readAt: time.Now()})
	require.Equal(t, ports.RestoreEpoch{1}, e.Current())
	e.known.Store(&knownEpoch{epoch: ports.RestoreEpoch{1}, readAt: time.Now().Add(-epochHolds - time.Second)})
	require.Zero(t, e.Current())
}
