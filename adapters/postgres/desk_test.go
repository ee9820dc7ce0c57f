package postgres_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/storetest"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// newDeskStore is a store with the deposits of two accounts; the owner of the store is one of them.
func newDeskStore(t *testing.T, deposits int) fullStore {
	t.Helper()
	url := pgtest.URL(t)
	admin := storetest.Pool(t, url, postgres.PoolOptions{StatementTimeout: time.Minute})
	owners, err := stock.Owners(t.Context(), admin, 1, 2)
	require.NoError(t, err)
	require.NoError(t, stock.Fill(t.Context(), admin, owners, stock.Amount{Deposits: deposits}))
	exec(t, admin, `ANALYZE open_deposits`)
	asked := &queries{}
	store := storetest.Over(t, storetest.Pool(t, url, postgres.PoolOptions{MaxConns: 1, Tracer: asked}),
		postgres.Options{})
	return fullStore{store, owners[0], asked, admin}
}

// A deposit that is made while somebody reads the list is on none of the later pages, and moves no other deposit.
func TestDeskDeposits_WhileDepositsAreMade_StaysStable(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 1_000)
	for _, f := range []depositports.DeskFilter{{}, {Statuses: []deposit.Status{deposit.Pending, deposit.Active}},
		{Text: "ada"}} {
		f.AccountID = s.Owner.Account
		before := expected(t, s, f)
		var got []id.ID
		page := ports.Page{Limit: 10}
		for more := true; more; more = !page.Cursor.IsZero() {
			list, err := s.Desk.DeskDeposits(t.Context(), f, page)
			require.NoError(t, err)
			for _, d := range list.Items {
				got = append(got, d.ID)
			}
			page.Cursor = list.Next
			d := draft(deposit.Origin{AccountID: s.Owner.Account, PartnerID: s.Owner.Partner, ByPartnerAPI: true,
				ExternalID: "operator-1"}, time.Now())
			require.NoError(t, s.WithinTx(t.Context(), func(ctx context.Context) error {
				return s.Deposits.Insert(ctx, d, secret.Text(d.ID.Encode()))
			}))
		}
		require.Greater(t, len(before), 30)
		require.True(t, slices.Equal(before, got))
	}
}

// openRows are the rows of open_deposits as text.
func openRows(t *testing.T, s fullStore) []string {
	t.Helper()
	return texts(t, s,
		`SELECT deposit_id::text || ' ' || status || ' ' || account_id || ' ' || created_at || ' ' || ends_at || ' ' || amount_cents
			|| CASE WHEN status IN ('pending', 'incomplete', 'payment_issue') THEN ' ' || starts_at ELSE '' END
		FROM open_deposits ORDER BY 1`)
}

// expectedOpenRows are the rows that open_deposits should have, by the deposits and payments.
func expectedOpenRows(t *testing.T, s fullStore) []string {
	t.Helper()
	return texts(t, s,
		`SELECT d.id::text || ' ' || d.status || ' ' || d.account_id || ' ' || d.created_at || ' ' || coalesce(d.expires_at,
			d.checkout_expires_at) || ' ' ||
			CASE d.status WHEN 'captured' THEN d.captured_cents ELSE d.amount_cents END ||
			CASE WHEN d.status IN ('pending', 'incomplete', 'payment_issue') THEN ' ' || d.contract_start_at ELSE '' END
		FROM deposits d WHERE d.status IN ('pending', 'incomplete', 'payment_issue', 'active')
			OR (d.status = 'captured' AND EXISTS (SELECT FROM payments p WHERE p.deposit_id = d.id AND p.kind = 'collection'
			AND p.status = 'processing')) ORDER BY 1`)
}

func texts(t *testing.T, s fullStore, sql string) []string {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), sql)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

// The migrations take up the deposits from before the triggers and the begin of their stays, and drop the rows of those
// that moved meanwhile.
func TestOpenDeposits_OfDepositsFromBeforeTheTable_AreFilledIn(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 2_000)
	exec(t, s.pool, `INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
		SELECT gen_random_uuid(), id, 'collection', 100, 'processing', now(), now() FROM deposits WHERE status = 'captured'
		ORDER BY id LIMIT 3`)
	exec(t, s.pool, `DELETE FROM open_deposits`)
	exec(t, s.pool,
		`INSERT INTO open_deposits SELECT account_id, 'pending', created_at, id, created_at, 1 FROM deposits
			WHERE status IN ('close', 'captured') LIMIT 20`)
	text, err := os.ReadFile("migrations/00024_desk_indexes.sql")
	require.NoError(t, err)
	fill, _, found := strings.Cut(string(text), "-- Indexes of the operator's list")
	require.True(t, found)
	exec(t, s.pool, fill)
	text, err = os.ReadFile("migrations/00052_open_stays.sql")
	require.NoError(t, err)
	_, fill, found = strings.Cut(string(text), "-- The rows from before the column.")
	require.True(t, found)
	exec(t, s.pool, fill)
	require.Equal(t, expectedOpenRows(t, s), openRows(t, s))
	require.True(t,
		slices.ContainsFunc(openRows(t, s), func(row string) bool { return strings.Contains(row, "captured") }))
}

// The table of open deposits follows the deposits through every transition and every collection.
func TestOpenDeposits_AreThoseThatAreNotOver(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 2_000)
	open, want := func() []string { return openRows(t, s) }, func() []string { return expectedOpenRows(t, s) }
	require.NotEmpty(t, open())
	require.Equal(t, want(), open(), "deposits that were made")

	page, err := s.Desk.DeskDeposits(t.Context(),
		depositports.DeskFilter{AccountID: s.Owner.Account, Statuses: []deposit.Status{deposit.Active}}, ports.Page{Limit: 5})
	require.NoError(t, err)
	now, timers := time.Now().UTC().Truncate(time.Microsecond), deposit.DefaultTimers()
	move := func(depositID id.ID, apply func(*deposit.Deposit) (deposit.Transition, error),
		then func(context.Context, *deposit.Deposit) error) {
		require.NoError(t, s.WithinTx(t.Context(), func(ctx context.Context) error {
			d, err := s.Deposits.ForUpdate(ctx, depositID)
			if err != nil {
				return err
			}
			step, err := apply(d)
			if err != nil {
				return err
			}
			step.Actor = actor.Actor{Kind: actor.KindOperator}
			if err := s.Deposits.Transition(ctx, d, step); err != nil || then == nil {
				return err
			}
			return then(ctx, d)
		}))
	}
	released, captured := page.Items[0].ID, page.Items[1].ID
	move(released, func(d *deposit.Deposit) (deposit.Transition, error) { return d.Apply(deposit.Released, timers, now) },
		nil)
	require.Equal(t, want(), open(), "a release")
	charge := deposit.Payment{ID: portstest.NewID(), DepositID: captured, Kind: deposit.Collection, Amount: 100,
		Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now}
	amount := charge.Amount
	move(captured, func(d *deposit.Deposit) (deposit.Transition, error) { return d.Capture(&amount, 0, timers, now) },
		func(ctx context.Context, _ *deposit.Deposit) error {
			return s.Payments.Insert(ctx, charge)
		})
	require.Equal(t, want(), open(), "a capture")
	require.True(t, slices.ContainsFunc(open(), func(row string) bool { return strings.Contains(row, "captured") }))

	counts, err := s.Desk.CountWork(t.Context(), s.Owner.Account, weekFrom(now), 10)
	require.NoError(t, err)
	require.Equal(t, depositports.WorkCount{Count: 1, Amount: 100}, counts[depositports.WorkCollecting])
	first, err := s.Desk.OpenWork(t.Context(), s.Owner.Account, []depositports.Work{depositports.WorkCollecting},
		weekFrom(now), 5)
	require.NoError(t, err)
	require.Equal(t, captured, first[depositports.WorkCollecting][0].ID)

	charge.Status, charge.SettledAt = deposit.PaymentSucceeded, now
	require.NoError(t, s.WithinTx(t.Context(), func(ctx context.Context) error { return s.Payments.Update(ctx, charge) }))
	require.Equal(t, want(), open(), "the end of a collection")
}
