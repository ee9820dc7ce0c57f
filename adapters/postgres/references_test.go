package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
)

// addClient inserts a client of the account.
func addClient(t *testing.T, store *postgres.Store, from deposit.Origin) id.ID {
	t.Helper()
	c := tenant.Client{ID: portstest.NewID(), AccountID: from.AccountID, PartnerID: from.PartnerID, CreatedAt: time.Now()}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error { return r.Clients.Insert(ctx, c) })
	return c.ID
}

// The table deposits has no foreign keys to these tables, so their rows stay, whether a deposit refers to them or not.
func TestRowsThatDepositsReferTo_CannotBeRemoved(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.Origin(t, store)
	addClient(t, store, from)
	_, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	for _, table := range []string{"partners", "accounts", "clients"} {
		for _, sql := range []string{
			"DELETE FROM " + table,
			"UPDATE " + table + " SET id = gen_random_uuid()",
			"TRUNCATE " + table + " CASCADE",
		} {
			_, err := pool.Exec(t.Context(), sql)
			require.ErrorContains(t, err, "stays, with its id", sql)
		}
		require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM "+table))
	}
	_, err = pool.Exec(t.Context(), "TRUNCATE operators CASCADE")
	require.ErrorContains(t, err, "stays, with its id", "TRUNCATE of a table that accounts refer to")
}

func TestInsert_ADepositOfNoAccountPartnerOrClient_IsRefused(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.Origin(t, store)
	insert := func(d *deposit.Deposit) error {
		return store.WithinTx(t.Context(), func(ctx context.Context) error { return store.Deposits.Insert(ctx, d, "token") })
	}
	for name, refer := range map[string]func(*deposit.Deposit){
		"account": func(d *deposit.Deposit) { d.AccountID = portstest.NewID() },
		"partner": func(d *deposit.Deposit) { d.PartnerID = portstest.NewID() },
		"client":  func(d *deposit.Deposit) { d.ClientID = portstest.NewID() },
	} {
		d := draft(from, time.Now())
		refer(d)
		require.ErrorContains(t, insert(d), "does not exist", name)
	}
	require.Zero(t, count(t, pool, "SELECT count(*) FROM deposits"))
	require.NoError(t, insert(draft(from, time.Now())))
}

func TestUpdate_ToAnAccountPartnerOrClientThatDoesNotExist_IsRefused(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.Origin(t, store)
	depositID, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	for _, column := range []string{"account_id", "partner_id", "client_id"} {
		require.ErrorContains(t, set(t, pool, depositID, column, portstest.NewID()), "refers to a row that does not exist",
			column)
	}
	require.ErrorContains(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		d, err := store.Deposits.ForUpdate(ctx, depositID)
		require.NoError(t, err)
		d.ClientID, d.CheckoutStartedAt = portstest.NewID(), d.CreatedAt
		return store.Deposits.SetCheckout(ctx, d)
	}), "refers to a row that does not exist")
	require.NoError(t, set(t, pool, depositID, "client_id", addClient(t, store, from)))
}

func set(t *testing.T, pool *pgxpool.Pool, depositID id.ID, column string, to id.ID) error {
	t.Helper()
	_, err := pool.Exec(t.Context(), "UPDATE deposits SET "+column+" = $1 WHERE id = $2", to, depositID)
	return err
}
