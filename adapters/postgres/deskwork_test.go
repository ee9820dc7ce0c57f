package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// weekFrom is the span of the stays that begin soon, at now.
func weekFrom(now time.Time) ports.Span {
	return ports.Span{From: now.AddDate(0, 0, -1), To: now.AddDate(0, 0, 7)}
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
	counts, err := s.Desk.CountWork(t.Context(), s.Owner.Account, week, 10_000)
	require.NoError(t, err)
	few, err := s.Desk.CountWork(t.Context(), s.Owner.Account, week, 3)
	require.NoError(t, err)
	all, err := s.Desk.OpenWork(t.Context(), s.Owner.Account, depositports.Works, week, 5)
	require.NoError(t, err)
	for kind, condition := range map[depositports.Work]string{
		depositports.WorkAwaiting: `status IN ('pending', 'incomplete')`, depositports.WorkRefused: `status = 'payment_issue'`,
		depositports.WorkActive: `status = 'active'`, depositports.WorkEnding: `status = 'active' AND expires_at < $3`,
		depositports.WorkCardRefused: cardIsRefused, depositports.WorkCollecting: isCollected,
		depositports.WorkSoon: inCheckout + ` AND ` + beginsSoon,
	} {
		from := ` FROM deposits WHERE account_id = $1 AND $2::timestamptz IS NOT NULL AND $3::timestamptz IS NOT NULL AND `
		where, order := from+condition, "created_at DESC, id DESC"
		number := value[int](t, s, `SELECT count(*)`+where, s.Owner.Account, week.From, week.To)
		require.NotZero(t, number, kind)
		if kind != depositports.WorkSoon {
			require.Equal(t, number, counts[kind].Count, kind)
			require.EqualValues(t, value[int64](t, s, `SELECT coalesce(sum(CASE status WHEN 'captured' THEN captured_cents
				ELSE amount_cents END), 0)::bigint`+where, s.Owner.Account, week.From, week.To), counts[kind].Amount, kind)
			require.LessOrEqual(t, few[kind].Count, 3, kind)
			claimed := kind == depositports.WorkCollecting || kind == depositports.WorkCardRefused // read as one
			require.Equal(t, number > 3 || claimed, few[kind].More, kind)
		}
		soon := 0
		switch kind {
		case depositports.WorkAwaiting, depositports.WorkRefused:
			soon = value[int](t, s, `SELECT count(*)`+where+` AND `+beginsSoon, s.Owner.Account, week.From, week.To)
			require.NotZero(t, soon, kind)
			where += ` AND NOT (` + beginsSoon + `)`
		case depositports.WorkSoon:
			order = "contract_start_at, id"
		case depositports.WorkEnding:
			order = "expires_at, id"
		}
		require.Equal(t, soon, counts[kind].Soon, kind)
		alone, err := s.Desk.OpenWork(t.Context(), s.Owner.Account, []depositports.Work{kind}, week, 5)
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
		got, err := s.Desk.Refused(t.Context(), s.Owner.Account, limit)
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
			_, err := s.Desk.CountWork(t.Context(), s.Owner.Account, week, 500)
			return err
		},
		"lists": func() error {
			_, err := s.Desk.OpenWork(t.Context(), s.Owner.Account, depositports.Works, week, 5)
			return err
		},
		"refused": func() error {
			_, err := s.Desk.Refused(t.Context(), s.Owner.Account, 50)
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
	spans := []ports.Span{{From: now.AddDate(0, -2, 0), To: now.AddDate(0, -1, 0)}, {From: now.AddDate(0, -1, 0), To: now},
		{From: now, To: now.AddDate(1, 0, 0)}}
	made, err := s.Desk.CountMade(t.Context(), s.Owner.Account, spans)
	require.NoError(t, err)
	for i, span := range spans {
		require.Equal(t,
			value[int](t, s, `SELECT count(*) FROM deposits WHERE account_id = $1 AND created_at >= $2 AND created_at < $3`,
				s.Owner.Account, span.From, span.To), made[i])
	}
	require.Positive(t, made[1])
}
