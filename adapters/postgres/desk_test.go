package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/stock"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// newDeskStore is a store with the deposits of two accounts; the owner of the store is one of them.
func newDeskStore(t *testing.T, deposits int) fullStore {
	t.Helper()
	url := pgtest.NewDatabaseURL(t)
	s := fullStoreOf(t, url, filled(t, url, 2, stock.RowCounts{Deposits: deposits}), nil)
	exec(t, s.pool, `ANALYZE open_deposits`)
	return s
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

// The table of open deposits follows the deposits through every transition and every collection.
func TestOpenDeposits_AreThoseThatAreNotOver(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 2_000)
	open, want := func() []string { return openRows(t, s) }, func() []string { return expectedOpenRows(t, s) }
	require.NotEmpty(t, open())
	require.Equal(t, want(), open(), "deposits that were made")

	page, err := s.Desk.DashboardDeposits(t.Context(),
		depositports.DashboardFilter{AccountID: s.Owner.Account, Statuses: []deposit.Status{deposit.Active}},
		ports.Page{Limit: 5})
	require.NoError(t, err)
	now, timers := time.Now().UTC().Truncate(time.Microsecond), deposit.DefaultTimerDurations()
	move := func(depositID id.ID, apply func(*deposit.Deposit) (deposit.Transition, error),
		then func(context.Context, *deposit.Deposit) error) {
		require.NoError(t, s.WithinTx(t.Context(), func(ctx context.Context) error {
			d, err := s.Deposits.LockRow(ctx, depositID)
			if err != nil {
				return err
			}
			step, err := apply(d)
			if err != nil {
				return err
			}
			step.Actor = actor.Actor{Kind: actor.KindOperator}
			if err := s.Deposits.StoreTransition(ctx, d, step); err != nil || then == nil {
				return err
			}
			return then(ctx, d)
		}))
	}
	released, captured := page.Items[0].ID, page.Items[1].ID
	move(released, func(d *deposit.Deposit) (deposit.Transition, error) {
		return d.ApplyTrigger(deposit.TriggerReleased, timers, now)
	},
		nil)
	require.Equal(t, want(), open(), "a release")
	charge := deposit.Payment{ID: portstest.NewID(), DepositID: captured, Kind: deposit.PaymentKindCollection, Amount: 100,
		Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now}
	amount := charge.Amount
	move(captured, func(d *deposit.Deposit) (deposit.Transition, error) { return d.Capture(&amount, 0, timers, now) },
		func(ctx context.Context, _ *deposit.Deposit) error {
			return s.Payments.Insert(ctx, charge)
		})
	require.Equal(t, want(), open(), "a capture")
	require.True(t, slices.ContainsFunc(open(), func(row string) bool { return strings.Contains(row, "captured") }))

	counts, err := s.Desk.CountByOverviewGroup(t.Context(), s.Owner.Account, weekFrom(now), 10)
	require.NoError(t, err)
	require.Equal(t, depositports.DepositGroupCount{Count: 1, Amount: 100}, counts[depositports.OverviewCollecting])
	first, err := s.Desk.DepositsByOverviewGroup(t.Context(), s.Owner.Account,
		[]depositports.OverviewGroup{depositports.OverviewCollecting},
		weekFrom(now), 5)
	require.NoError(t, err)
	require.Equal(t, captured, first[depositports.OverviewCollecting][0].ID)

	charge.Status, charge.SettledAt = deposit.PaymentSucceeded, now
	require.NoError(t, s.WithinTx(t.Context(), func(ctx context.Context) error { return s.Payments.Update(ctx, charge) }))
	require.Equal(t, want(), open(), "the end of a collection")
}

// weekFrom is the span of the stays that begin soon, at now.
func weekFrom(now time.Time) ports.TimeSpan {
	return ports.TimeSpan{From: now.AddDate(0, 0, -1), To: now.AddDate(0, 0, 7)}
}

const (
	beginsSoon    = `contract_start_at >= $2 AND contract_start_at < $3`
	inCheckout    = `status IN ('pending', 'incomplete', 'payment_issue')`
	cardIsRefused = `status = 'captured' AND id IN (SELECT deposit_id FROM collections WHERE state = 'awaiting_tenant')`
	isCollected   = `status = 'captured' AND id IN (SELECT deposit_id FROM payments WHERE status = 'processing')
		AND NOT (` + cardIsRefused + `)`
)

// newWorkStore has deposits of every kind of work.
func newWorkStore(t *testing.T, deposits int) fullStore {
	t.Helper()
	s := newDeskStore(t, deposits)
	exec(t, s.pool,
		`UPDATE deposits SET status = 'payment_issue' WHERE id IN (SELECT id FROM deposits WHERE status = 'pending'
			AND account_id = $1 ORDER BY reference LIMIT 12)`, s.Owner.Account)
	exec(t, s.pool, `INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
		SELECT gen_random_uuid(), id, 'collection', captured_cents, 'processing', now(), now() FROM deposits
		WHERE status = 'captured' AND account_id = $1 ORDER BY id LIMIT 9`, s.Owner.Account)
	exec(t, s.pool, `UPDATE payments SET status = 'failed', settled_at = now() WHERE kind = 'collection'`)
	exec(t, s.pool, // a collection that begins anew is open
		`UPDATE payments SET status = 'processing', settled_at = NULL WHERE kind = 'collection'`)
	exec(t, s.pool, // a trigger made the rows
		`UPDATE collections c SET ended_at = NULL, failure = '',
			state = CASE WHEN n <= 6 THEN 'awaiting_tenant' ELSE 'scheduled' END
		FROM (SELECT payment_id, row_number() OVER (ORDER BY payment_id) AS n FROM collections) AS r
		WHERE r.payment_id = c.payment_id`)
	return s
}

func TestCountWork_AndOpenWork_AgreeWithTheDeposits(t *testing.T) {
	t.Parallel()
	s := newWorkStore(t, 12_000)
	week := weekFrom(time.Now().UTC().Truncate(time.Microsecond))
	counts, err := s.Desk.CountByOverviewGroup(t.Context(), s.Owner.Account, week, 10_000)
	require.NoError(t, err)
	few, err := s.Desk.CountByOverviewGroup(t.Context(), s.Owner.Account, week, 3)
	require.NoError(t, err)
	all, err := s.Desk.DepositsByOverviewGroup(t.Context(), s.Owner.Account, depositports.OverviewGroups, week, 5)
	require.NoError(t, err)
	for kind, condition := range map[depositports.OverviewGroup]string{
		depositports.OverviewAwaitingTenant: `status IN ('pending', 'incomplete')`, depositports.OverviewPaymentRefused: `status = 'payment_issue'`,
		depositports.OverviewActive: `status = 'active'`, depositports.OverviewCoverEnding: `status = 'active' AND expires_at < $3`,
		depositports.OverviewCardRefused: cardIsRefused, depositports.OverviewCollecting: isCollected,
		depositports.OverviewStayBeginning: inCheckout + ` AND ` + beginsSoon,
	} {
		from := ` FROM deposits WHERE account_id = $1 AND $2::timestamptz IS NOT NULL AND $3::timestamptz IS NOT NULL AND `
		where, order := from+condition, "created_at DESC, id DESC"
		number := value[int](t, s, `SELECT count(*)`+where, s.Owner.Account, week.From, week.To)
		require.NotZero(t, number, kind)
		if kind != depositports.OverviewStayBeginning {
			require.Equal(t, number, counts[kind].Count, kind)
			require.EqualValues(t, value[int64](t, s, `SELECT coalesce(sum(CASE status WHEN 'captured' THEN captured_cents
				ELSE amount_cents END), 0)::bigint`+where, s.Owner.Account, week.From, week.To), counts[kind].Amount, kind)
			require.LessOrEqual(t, few[kind].Count, 3, kind)
			claimed := kind == depositports.OverviewCollecting || kind == depositports.OverviewCardRefused // read as one
			require.Equal(t, number > 3 || claimed, few[kind].More, kind)
		}
		soon := 0
		switch kind {
		case depositports.OverviewAwaitingTenant, depositports.OverviewPaymentRefused:
			soon = value[int](t, s, `SELECT count(*)`+where+` AND `+beginsSoon, s.Owner.Account, week.From, week.To)
			require.NotZero(t, soon, kind)
			where += ` AND NOT (` + beginsSoon + `)`
		case depositports.OverviewStayBeginning:
			order = "contract_start_at, id"
		case depositports.OverviewCoverEnding:
			order = "expires_at, id"
		}
		require.Equal(t, soon, counts[kind].Soon, kind)
		alone, err := s.Desk.DepositsByOverviewGroup(t.Context(), s.Owner.Account, []depositports.OverviewGroup{kind}, week,
			5)
		require.NoError(t, err)
		require.Len(t, alone, 1, kind)
		first := all[kind]
		require.Equal(t, first, alone[kind])
		require.Len(t, first, min(5, number-soon), kind)
		for i, d := range first {
			require.Equal(t, value[id.ID](t, s, fmt.Sprintf(`SELECT id%s ORDER BY %s OFFSET %d LIMIT 1`, where, order, i),
				s.Owner.Account, week.From, week.To), d.ID, "%s, %d", kind, i)
		}
	}
}

func TestRefused_ListsRefusedPaymentsThenRefusedCards_UpToALimit(t *testing.T) {
	t.Parallel()
	s := newWorkStore(t, 3_000)
	want := make([]id.ID, 0, 18)
	for _, condition := range []string{`status = 'payment_issue'`, cardIsRefused} {
		n := value[int](t, s, `SELECT count(*) FROM deposits WHERE account_id = $1 AND `+condition, s.Owner.Account)
		require.NotZero(t, n, condition)
		for i := range n {
			want = append(want, value[id.ID](t, s, fmt.Sprintf(`SELECT id FROM deposits WHERE account_id = $1 AND %s
				ORDER BY created_at DESC, id DESC OFFSET %d LIMIT 1`, condition, i), s.Owner.Account))
		}
	}
	for _, limit := range []int{1, len(want) - 1, 50} {
		got, err := s.Desk.RefusedDepositIDs(t.Context(), s.Owner.Account, limit)
		require.NoError(t, err)
		require.Equal(t, want[:min(limit, len(want))], got)
	}
}

// The statements of the first page read the rows of the work, and a bound of them, whatever else the account has.
func TestWork_ReadsFewRows(t *testing.T) {
	t.Parallel()
	s := newWorkStore(t, 40_000)
	exec(t, s.pool, `ANALYZE open_deposits`)
	week := weekFrom(time.Now().UTC())
	open := value[int](t, s, `SELECT count(*) FROM open_deposits WHERE account_id = $1`, s.Owner.Account)
	require.Less(t, open, maxRead, "so that the bounds below say something of 20,000 deposits")
	for name, read := range map[string]func() error{
		"counts": func() error {
			_, err := s.Desk.CountByOverviewGroup(t.Context(), s.Owner.Account, week, 500)
			return err
		},
		"lists": func() error {
			_, err := s.Desk.DepositsByOverviewGroup(t.Context(), s.Owner.Account, depositports.OverviewGroups, week, 5)
			return err
		},
		"refused": func() error {
			_, err := s.Desk.RefusedDepositIDs(t.Context(), s.Owner.Account, 50)
			return err
		},
	} {
		require.LessOrEqual(t, s.rowsRead(t, read), 2*open, name)
	}
}

func TestCountMade_AgreesWithTheDeposits(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 2_000)
	now := time.Now().UTC()
	spans := []ports.TimeSpan{{From: now.AddDate(0, -2, 0), To: now.AddDate(0, -1, 0)}, {From: now.AddDate(0, -1, 0),
		To: now},
		{From: now, To: now.AddDate(1, 0, 0)}}
	made, err := s.Desk.CountCreatedDeposits(t.Context(), s.Owner.Account, spans)
	require.NoError(t, err)
	for i, span := range spans {
		require.Equal(t,
			value[int](t, s, `SELECT count(*) FROM deposits WHERE account_id = $1 AND created_at >= $2 AND created_at < $3`,
				s.Owner.Account, span.From, span.To), made[i])
	}
	require.Positive(t, made[1])
}
