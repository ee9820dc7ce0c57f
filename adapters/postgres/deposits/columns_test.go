package deposits

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

func columnNames[T any](columns []sets.Column[T]) []string {
	return strings.Split(sets.ColumnNames(columns), ", ")
}

func TestInserts_WriteEveryColumnOfTheirTable(t *testing.T) {
	t.Parallel()
	pgtest.RequireAllColumnsWritten(t, pgtest.New(t), "deposits", columnNames(insertedColumns))
}

// A new deposit is written with values that stand in the statement; any other deposit brings all of its values.
func TestInsertDeposits_FreshAndOther_WriteTheSameRow(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	_, err := pool.Exec(t.Context(),
		`ALTER TABLE deposits DROP CONSTRAINT deposits_pkey CASCADE, DROP CONSTRAINT deposits_checkout_token_hash_key;
			DROP INDEX deposits_reference_key`)
	require.NoError(t, err)
	// the trigger writes a row for each of the same id
	_, err = pool.Exec(t.Context(), `ALTER TABLE open_deposits DROP CONSTRAINT open_deposits_pkey`)
	require.NoError(t, err)
	now := time.Date(2026, 8, 1, 15, 0, 0, 0, time.UTC)
	origin := deposit.Origin{AccountID: portstest.NewID(), PartnerID: portstest.NewID(), ExternalID: "op-1",
		ByPartnerAPI: true}
	d := deposit.New(portstest.NewID(), "D-1", origin,
		deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now, Locale: "fr",
			RentalContract: "BK-17", ReturnURL: "https://pms.example", URLGeneration: true,
			Metadata: map[string]string{"a": "b"}}, nil, now)
	require.True(t, isFresh(d))
	row := []newDeposit{{Deposit: d, tokenHash: []byte{1}, sealedToken: []byte{2}}}
	for statement, columns := range map[string][]sets.Column[newDeposit]{insertFresh: variedColumns,
		insertAny: insertedColumns, insertUntaken: insertedColumns} {
		if statement == insertUntaken {
			statement = strings.ReplaceAll(statement, " ON CONFLICT (reference) DO NOTHING", "")
		}
		_, err := pool.Exec(t.Context(), strings.ReplaceAll(statement, "made.id FROM made", "gen_random_uuid() FROM made"),
			sets.ArrayArguments(columns, row)...)
		require.NoError(t, err)
	}
	var rows, different int
	require.NoError(t,
		pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT to_jsonb(d)) FROM deposits d`).Scan(&rows, &different))
	require.Equal(t, []int{3, 1}, []int{rows, different})
}

// Each column of the table deposits is either fixed at creation, or written by every transition.
func TestMoves_WriteEveryColumnThatATransitionMayChange(t *testing.T) {
	t.Parallel()
	fixed := []string{"id", "reference", "account_id", "partner_id", "by_partner_api", "external_id", "amount_cents",
		"contract_start_at",
		"contract_end_at", "rental_contract", "return_url", "url_generation", "metadata", "locale", "checkout_token_hash",
		"checkout_token",
		"checkout_expires_at", "created_at"}
	moved := columnNames(transitionColumns)
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
