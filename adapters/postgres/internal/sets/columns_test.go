package sets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func columnNames[T any](columns []column[T]) []string {
	return each(columns, func(c column[T]) string { return c.name })
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
		{"deposits", columnNames(insertedColumns), nil},
		{"outbox", columnNames(outboxColumns), []string{"committed_at"}},
		{"idempotency_keys", columnNames(responseColumns), nil},
	} {
		var names []string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT array_agg(column_name::text) FROM information_schema.columns WHERE table_name = $1`, insert.table).Scan(&names))
		require.ElementsMatch(t, names, append(insert.columns, insert.byTable...), insert.table)
	}
}

// Each column of the table deposits is either fixed at creation, or written by every transition.
func TestMoves_WriteEveryColumnThatATransitionMayChange(t *testing.T) {
	t.Parallel()
	fixed := []string{"id", "reference", "account_id", "partner_id", "by_partner_api", "external_id", "amount_cents", "contract_start_at",
		"contract_end_at", "rental_contract", "return_url", "url_generation", "metadata", "locale", "checkout_token_hash", "checkout_token",
		"checkout_expires_at", "created_at"}
	moved := columnNames(movedColumns)
	for _, name := range columnNames(insertedColumns) {
		if name == "status" {
			name = "to_status"
		}
		require.NotEqual(t, contains(fixed, name), contains(moved, name) && name != "id", name)
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
