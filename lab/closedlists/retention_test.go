package closedlists_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/pgtest"
)

// Every table of a migrated database has a stated end, or a stated reason to have none. Partitions are parts of their
// tables.
func TestRetention_NamesEveryTable(t *testing.T) {
	t.Parallel()
	var documented []string
	for _, row := range docstest.TableRows(t, "docs/spec/operations.md", "Retention") {
		documented = append(documented, docstest.CodeSpans(row[0])...)
		require.NotEmpty(t, row[1])
	}
	rows, err := pgtest.New(t).Query(t.Context(), `
		SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
			AND relnamespace = 'public'::regnamespace AND relname <> 'goose_db_version'`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	slices.Sort(documented)
	slices.Sort(tables)
	require.Equal(t, tables, documented)
}
