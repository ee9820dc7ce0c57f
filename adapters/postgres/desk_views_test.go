package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// deskReads bounds the rows that a statement of the operator's list reads: 2,000 and those of a page, as in every list.
const deskReads = maxRead + 2

// Bounds of the rows and blocks that a search may read: 32,000 names, 1,500 clients, 4,000 of their deposits, and a
// page of the list (ADR 0012).
const (
	searchReads  = 32_000 + 4*1501 + 4001 + deskReads
	searchBlocks = 3 * searchReads
)

// everyDeskFilter calls check with every filter of the list, alone and in pairs.
func everyDeskFilter(t *testing.T, s fullStore, check func(name string, f depositports.DashboardFilter)) {
	t.Helper()
	claims(t, s)
	middle := time.Now().Add(-180 * 24 * time.Hour).UTC().Truncate(24 * time.Hour)
	contract := value[string](t, s,
		`SELECT rental_contract FROM deposits WHERE account_id = $1 AND rental_contract <> '' ORDER BY created_at LIMIT 1`,
		s.Owner.Account)
	reference := value[string](t, s,
		`SELECT reference FROM deposits WHERE account_id = $1 ORDER BY created_at DESC OFFSET 10 LIMIT 1`, s.Owner.Account)
	foreign := value[string](t, s,
		`SELECT reference FROM deposits WHERE account_id <> $1 ORDER BY created_at DESC LIMIT 1`, s.Owner.Account)
	type filter = depositports.DashboardFilter
	status := func(all ...deposit.Status) func(*filter) { return func(f *filter) { f.Statuses = all } }
	text := func(s string) func(*filter) { return func(f *filter) { f.Text = s } }
	stay := func(from, to time.Time) func(*filter) {
		return func(f *filter) { f.Stay = ports.TimeSpan{From: from, To: to} }
	}
	view := func(v depositports.ListView) func(*filter) {
		return func(f *filter) {
			if f.View = v; v == depositports.ViewCoverEnding {
				f.EndsBefore = time.Now().UTC().AddDate(0, 0, 7)
			}
		}
	}
	sorted := func(by depositports.SortOrder) func(*filter) { return func(f *filter) { f.Sort = by } }
	filters[filter]{
		{
			status(deposit.Pending, deposit.Incomplete), status(deposit.PaymentIssue), status(deposit.Active),
			status(deposit.Closed),
			status(deposit.Captured), status(deposit.Cancelled, deposit.Active), status(deposit.Statuses...),
		},
		{
			text(contract), text(strings.ToLower(contract[:5])), text("bk-"), text("ADA"), text("tenant 1"), text("Tenant-9"),
			text(reference),
			text(strings.ToLower(strings.ReplaceAll(reference, "-", ""))), text(foreign), text("nobody"), text("%"), text("é"),
		},
		{
			stay(middle, middle.AddDate(0, 0, 1)), stay(time.Time{}, middle), stay(middle, time.Time{}),
			stay(middle.AddDate(10, 0, 0), time.Time{}), stay(time.Time{}, middle.AddDate(-10, 0, 0)),
		},
		{
			view(depositports.ViewAwaitingTenant), view(depositports.ViewRefused), view(depositports.ViewSecured),
			view(depositports.ViewCoverEnding), view(depositports.ViewClaimed),
		},
		{sorted(depositports.SortByStay), sorted(depositports.SortByCreation)},
	}.each(func(name string, f filter) {
		f.AccountID = s.Owner.Account
		check(name, f)
	})
}

// expected gives the ids of the list of f in its order, by a statement that knows no index and no page.
func expected(t *testing.T, s fullStore, f depositports.DashboardFilter) []id.ID {
	t.Helper()
	conditions, args := []string{"d.account_id = $1"}, []any{f.AccountID}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if len(f.Statuses) > 0 {
		names := make([]string, len(f.Statuses))
		for i, s := range f.Statuses {
			names[i] = string(s)
		}
		conditions = append(conditions, "d.status = ANY ("+arg(names)+")")
	}
	if f.Text != "" {
		reference, _ := deposit.ParseReference(f.Text)
		begins := arg(strings.ToLower(f.Text))
		conditions = append(conditions, `(d.reference = `+arg(reference)+` OR starts_with(lower(d.rental_contract), `+begins+
			`) OR starts_with(lower(c.email), `+begins+`) OR d.reference ^@ ANY (`+
			arg(deposit.ReferencePrefixes(f.Text))+`::text[])
			OR (`+arg(f.Text)+` ~ '\w' AND NOT EXISTS (SELECT FROM regexp_split_to_table(`+begins+`, '[ -]+') AS w
				WHERE (' ' || lower(c.first_name || ' ' || c.last_name) LIKE '% ' || w || '%') IS NOT TRUE)))`)
	}
	const unpaid = `EXISTS (SELECT FROM collections k WHERE k.deposit_id = d.id AND k.state `
	switch f.View {
	case depositports.ViewAwaitingTenant:
		conditions = append(conditions, `d.status IN ('pending', 'incomplete')`)
	case depositports.ViewRefused:
		conditions = append(conditions, `(d.status = 'payment_issue' OR `+unpaid+`= 'awaiting_tenant'))`)
	case depositports.ViewSecured:
		conditions = append(conditions, `d.status = 'active'`)
	case depositports.ViewCoverEnding:
		conditions = append(conditions, `d.status = 'active' AND d.expires_at < `+arg(f.EndsBefore))
	case depositports.ViewClaimed:
		conditions = append(conditions, unpaid+`NOT IN ('paid', 'failed'))`)
	case depositports.ViewAll:
	}
	order := "d.created_at"
	if !f.Stay.From.IsZero() {
		conditions, order = append(conditions, "d.contract_end_at >= "+arg(f.Stay.From)), "d.contract_start_at"
	}
	if !f.Stay.To.IsZero() {
		conditions, order = append(conditions, "d.contract_start_at < "+arg(f.Stay.To)), "d.contract_start_at"
	}
	if f.Sort != "" {
		order = map[depositports.SortOrder]string{depositports.SortByStay: "d.contract_start_at",
			depositports.SortByCreation: "d.created_at"}[f.Sort]
	}
	rows, err := s.pool.Query(t.Context(),
		`SELECT d.id FROM deposits d LEFT JOIN clients c ON c.id = d.client_id AND c.erased_at IS NULL
		WHERE `+strings.Join(conditions, " AND ")+` ORDER BY `+order+` DESC, d.id DESC`, args...)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	require.NoError(t, err)
	return ids
}

// claims makes a claim of each deposit of the owner that was captured: a third waits for the card, a third for the
// tenant, and a third is paid.
func claims(t *testing.T, s fullStore) {
	t.Helper()
	exec(t, s.pool, `INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
		SELECT id, id, 'collection', captured_cents, 'processing', now(), now() FROM deposits
		WHERE status = 'captured' AND account_id = $1`, s.Owner.Account)
	exec(t, s.pool, `INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents)
		SELECT account_id, status, created_at, id, expires_at, captured_cents FROM deposits
		WHERE status = 'captured' AND account_id = $1`, s.Owner.Account)
	const third = ` (SELECT payment_id FROM (SELECT payment_id, row_number() OVER (ORDER BY payment_id) AS n
		FROM collections) AS c WHERE n % 3 = `
	exec(t, s.pool, `UPDATE collections SET state = 'awaiting_tenant' WHERE payment_id IN`+third+`0)`)
	exec(t, s.pool, `UPDATE payments SET status = 'succeeded', settled_at = now() WHERE id IN`+third+`1)`)
	exec(t, s.pool, `ANALYZE open_deposits, collections`)
}

// listed gives the ids of the list of f from the page on, in the order of the list, and the place of its last deposit.
func (s fullStore) listed(t *testing.T, f depositports.DashboardFilter, page ports.Page,
	name string) (got []id.ID, last ports.Cursor) {
	t.Helper()
	for pages := 0; ; pages++ {
		require.Less(t, pages, 100, name)
		list, err := s.Desk.DashboardDeposits(t.Context(), f, page)
		require.NoError(t, err, name)
		var ids []id.ID
		for _, d := range list.Items {
			require.Equal(t, f.AccountID, d.AccountID)
			ids, last = append(ids, d.ID), ports.Cursor{At: d.CreatedAt, ID: d.ID}
			if f.SortedByStay() {
				last.At = d.ContractStartAt
			}
		}
		if page.Back {
			got = append(ids, got...)
		} else {
			got = append(got, ids...)
		}
		if page.Cursor = list.Next; list.Next.IsZero() {
			return got, last
		}
	}
}

func TestDeskDeposits_EveryFilterAndPair_ListsEachDepositOnceInOrder(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 5_000)
	checked := 0
	everyDeskFilter(t, s, func(name string, f depositports.DashboardFilter) {
		checked++
		got, last := s.listed(t, f, ports.Page{Limit: 100}, name)
		want := expected(t, s, f)
		require.Len(t, got, len(want), name)
		require.True(t, slices.Equal(want, got), name)
		if len(want) > 0 {
			back, _ := s.listed(t, f, ports.Page{Limit: 100, Cursor: last, Back: true}, name)
			require.True(t, slices.Equal(want[:len(want)-1], back), "back: "+name)
		}
	})
	require.Greater(t, checked, 150)
}

func TestDeskDeposits_EveryFilterAndPair_ReadsFewRows(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 40_000)
	everyDeskFilter(t, s, func(name string, f depositports.DashboardFilter) {
		if of := f.View.Statuses(); of != nil && len(f.Statuses) > 0 &&
			!slices.ContainsFunc(f.Statuses, func(s deposit.Status) bool { return slices.Contains(of, s) }) {
			none, err := s.Desk.DashboardDeposits(t.Context(), f, ports.Page{Limit: 50})
			require.NoError(t, err)
			require.Empty(t, none.Items, name)
			return // without a statement
		}
		var page ports.Page
		reads, blocks := deskReads, maxBlocks
		if f.Text != "" {
			reads, blocks = searchReads, searchBlocks
		}
		for _, of := range []string{"first", "second", "back"} {
			if page.Limit, page.Back = 50, of == "back"; page.Back {
				reads *= 2 // the rows of both pages are few, and Postgres may sort them all
			}
			require.LessOrEqual(t, s.rowsReadOf(t, blocks, func() error {
				list, err := s.Desk.DashboardDeposits(t.Context(), f, page)
				page.Cursor = list.Next
				return err
			}), reads, of+" page, "+name)
			if page.Cursor.IsZero() {
				break
			}
		}
	})
}

// Every count of a view is that of its deposits, up to the bound.
func TestCountViews_AgreesWithTheDeposits(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 6_000)
	claims(t, s)
	ending := time.Now().UTC().AddDate(0, 0, 7)
	for _, most := range []int{3, 1_001, 10_000} {
		counts, err := s.Desk.CountByView(t.Context(), s.Owner.Account, ending, most)
		require.NoError(t, err)
		require.Len(t, counts, len(depositports.ListViews))
		for _, view := range depositports.ListViews {
			f := depositports.DashboardFilter{AccountID: s.Owner.Account, View: view}
			if view == depositports.ViewCoverEnding {
				f.EndsBefore = ending
			}
			want := len(expected(t, s, f))
			require.Positive(t, want, view)
			require.Equal(t, min(most, want), counts[view], "%s, %d", view, most)
		}
	}
	none, err := s.Desk.CountByView(t.Context(), id.ID{1}, ending, 3)
	require.NoError(t, err)
	for _, view := range depositports.ListViews {
		require.Zero(t, none[view], view)
	}
	// Postgres would read a small table as a whole.
	exec(t, s.pool, `INSERT INTO open_deposits SELECT uuid_floor(now() + n * interval '1 hour'), status, created_at,
		gen_random_uuid(), ends_at, amount_cents, awaits_tenant FROM open_deposits, generate_series(1, 50) n`)
	exec(t, s.pool, `ANALYZE open_deposits`)
	require.LessOrEqual(t, s.rowsRead(t, func() error {
		_, err := s.Desk.CountByView(t.Context(), s.Owner.Account, ending, 20)
		return err
	}), 9*20)
}

// The claims that await their tenants are noted as they move.
func TestOpenDeposits_OfClaims_TellWhetherTheTenantHasToPay(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 2_000)
	claims(t, s)
	noted := func() []string {
		return texts(t, s, `SELECT deposit_id::text FROM open_deposits WHERE awaits_tenant ORDER BY 1`)
	}
	waiting := func() []string {
		return texts(t, s, `SELECT deposit_id::text FROM collections WHERE state = 'awaiting_tenant' ORDER BY 1`)
	}
	require.NotEmpty(t, noted())
	require.Equal(t, waiting(), noted())
	exec(t, s.pool, `UPDATE collections SET state = 'retrying' WHERE payment_id = (SELECT payment_id FROM collections
		WHERE state = 'awaiting_tenant' LIMIT 1)`)
	require.Equal(t, waiting(), noted(), "staff tried the card again")
}
