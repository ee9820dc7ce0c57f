package platform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/lab/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func columnNames[T any](columns []sets.Column[T]) []string {
	return pg.Each(columns, func(c sets.Column[T]) string { return c.Name })
}

// Postgres silently fills a column that an INSERT omits with its default.
func TestInserts_WriteEveryColumnOfTheirTable(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, insert := range []struct {
		table   string
		columns []string
		byTable []string // columns whose default is wanted
	}{
		{"outbox", columnNames(tracedColumns), []string{"committed_at", "position"}},
		{"idempotency_keys", columnNames(responseColumns), nil},
	} {
		var names []string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT array_agg(column_name::text) FROM information_schema.columns WHERE table_name = $1`, insert.table).Scan(&names))
		require.ElementsMatch(t, names, append(insert.columns, insert.byTable...), insert.table)
	}
}
