package deposits

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// DashboardDeposits returns a page of an account's deposits. A search text is looked up in its indexes first
// (ADR 0012).
func (s DashboardQueries) DashboardDeposits(ctx context.Context, f depositports.DashboardFilter,
	page ports.Page) (ports.ListPage[*deposit.Deposit], error) {
	var none ports.ListPage[*deposit.Deposit]
	f, some := narrowed(f)
	if !some {
		return none, nil
	}
	var sought *search
	var err error
	if f.Text != "" {
		if sought, err = s.search(ctx, f, page); err != nil || sought.empty() {
			return none, err
		}
	}
	few, err := s.fewOpen(ctx, f, sought)
	if err != nil || few != nil && len(few) == 0 {
		return none, err
	}
	l := &lists.PageQuery{Table: "deposits", Identity: []string{"id"}, Order: []string{"created_at", "id"},
		Back: page.Back}
	if f.SortedByStay() {
		l.Order[0] = "contract_start_at"
	}
	var source string
	if open(f) && few == nil && f.Text == "" && !f.SortedByStay() && f.Stay == (ports.TimeSpan{}) {
		source = openDeposits(l, f, page)
	} else {
		if few != nil {
			l.Where("id = ANY (?::uuid[])", few)
		}
		source = deskList(l, f, page, sought).RowsExpression(page)
	}
	sql := SelectDepositsSQL(source, "d.fits, d.n") + l.OrderBy("d.")
	return lists.ReadPage(ctx, s.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.PageCandidateRow[*deposit.Deposit], err error) {
			got.Item, err = ScanDeposit(row, s.Sealer, &got.Fits, &got.N)
			return got, err
		}, f.CursorForDeposit)
}

// narrowed returns the filter with only the statuses that all its parts permit, and whether any status is left.
func narrowed(f depositports.DashboardFilter) (depositports.DashboardFilter, bool) {
	leave := func(statuses []deposit.Status) {
		if len(f.Statuses) == 0 {
			f.Statuses = statuses
			return
		}
		f.Statuses = slices.DeleteFunc(slices.Clone(f.Statuses),
			func(s deposit.Status) bool { return !slices.Contains(statuses, s) })
	}
	if !f.EndsBefore.IsZero() { // Only an active deposit has a cover that can still end.
		if leave([]deposit.Status{deposit.Active}); len(f.Statuses) == 0 {
			return f, false
		}
	}
	if of := f.View.Statuses(); of != nil {
		leave(of)
		return f, len(f.Statuses) > 0
	}
	return f, true
}

// deskList describes the query of an account's deposits. sought is the result of a search for a text.
func deskList(l *lists.PageQuery, f depositports.DashboardFilter, page ports.Page, sought *search) *lists.PageQuery {
	l.Where("account_id = ?", f.AccountID)
	switch {
	case sought == nil:
	case sought.frequent:
		l.Max = maxSearched
		l.Fits = append(l.Fits, sought.fits(l, f.Text))
	default:
		l.Where("id = ANY (?::uuid[])", sought.ids)
	}
	within := l.Where
	if !f.SortedByStay() { // The index of the list does not contain stays, so compare them by row.
		within = l.Filter
	}
	if !f.Stay.From.IsZero() {
		within("contract_end_at >= ?", f.Stay.From)
	}
	if !f.Stay.To.IsZero() &&
		(!f.SortedByStay() || page.Back || page.Cursor.IsZero() || !page.Cursor.At.Before(f.Stay.To)) {
		// Omit this condition where the cursor's implies it: both together would mislead Postgres's planner.
		within("contract_start_at < ?", f.Stay.To)
	}
	if len(f.Statuses) > 0 {
		l.Filter("status = ANY (?)", statusTexts(f.Statuses))
	}
	switch f.View {
	case depositports.ViewRefused:
		l.Filter("(status <> 'captured' OR " + isOpen + " AND o.awaits_tenant))")
	case depositports.ViewClaimed:
		l.Filter(isOpen + ")")
	case depositports.ViewAll, depositports.ViewAwaitingTenant, depositports.ViewSecured, depositports.ViewCoverEnding:
	}
	if !f.EndsBefore.IsZero() {
		l.Filter("expires_at < ?", f.EndsBefore)
	}
	l.AfterCursor(page.Cursor)
	return l
}

// isOpen finds a captured deposit's row in the table open_deposits. With EXISTS, Postgres may read the whole table.
const isOpen = `(SELECT true FROM open_deposits o WHERE o.account_id = deposits.account_id AND o.status = 'captured'
	AND o.created_at = deposits.created_at AND o.deposit_id = deposits.id`

func statusTexts(statuses []deposit.Status) []string {
	return pg.ConvertEach(statuses, func(s deposit.Status) string { return string(s) })
}

// open reports whether the table open_deposits contains every deposit of the filtered list.
func open(f depositports.DashboardFilter) bool {
	return f.View.Statuses() != nil || len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, deposit.Status.Final)
}

// openRows returns the SQL of the rows of open_deposits that match a filter. rest ends the query of each status.
func openRows(l *lists.PageQuery, f depositports.DashboardFilter, rest string) string {
	const row = `SELECT o.created_at, o.deposit_id FROM open_deposits o WHERE o.account_id = `
	account, statuses, parts := l.AddArgument(f.AccountID), f.Statuses, []string(nil)
	if f.View == depositports.ViewRefused && slices.Contains(statuses, deposit.Captured) {
		parts = append(parts, "("+row+account+" AND o.awaits_tenant"+rest+")")
		statuses = slices.DeleteFunc(slices.Clone(statuses), func(s deposit.Status) bool { return s == deposit.Captured })
	}
	if len(statuses) > 0 {
		parts = append(parts, "(SELECT o.* FROM unnest("+l.AddArgument(statusTexts(statuses))+
			"::text[]) AS s(status) CROSS JOIN LATERAL ("+row+account+" AND o.status = s.status"+rest+") AS o)")
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ") AS o"
}

// fewOpen returns the ids of the open deposits that match a filter; nil if they are too many to be worth it.
func (s DashboardQueries) fewOpen(ctx context.Context, f depositports.DashboardFilter, sought *search) ([]id.ID,
	error) {
	if !open(f) || sought != nil && !sought.frequent ||
		sought == nil && !f.SortedByStay() && f.Stay == (ports.TimeSpan{}) && f.EndsBefore.IsZero() {
		return nil, nil
	}
	most, l := strconv.Itoa(maxFound+1), &lists.PageQuery{}
	sql := ""
	if f.EndsBefore.IsZero() {
		sql = "SELECT o.deposit_id FROM " +
			openRows(l, f, " ORDER BY o.created_at DESC, o.deposit_id DESC LIMIT "+most) + " LIMIT " + most
	} else {
		l.Args = []any{f.AccountID, f.EndsBefore}
		sql = "SELECT deposit_id " + endingWork + " ORDER BY ends_at LIMIT " + most
	}
	rows, err := s.DB.Query(ctx, sql, l.Args...)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil || len(ids) > maxFound {
		return nil, pg.Translate(err)
	}
	return append([]id.ID{}, ids...), nil
}

func openDeposits(l *lists.PageQuery, f depositports.DashboardFilter, page ports.Page) string {
	rest := ""
	if !page.Cursor.IsZero() {
		rest = " AND (o.created_at, o.deposit_id) " + l.CursorOperator() + " (" + l.AddArgument(page.Cursor.At) + ", " +
			l.AddArgument(page.Cursor.ID) + ")"
	}
	if !f.EndsBefore.IsZero() {
		rest += " AND o.ends_at < " + l.AddArgument(f.EndsBefore)
	}
	newest := " ORDER BY o.created_at DESC, o.deposit_id DESC"
	if page.Back {
		newest = " ORDER BY o.created_at, o.deposit_id"
	}
	newest += " LIMIT " + strconv.Itoa(lists.PageQueryLimit(page))
	return "(SELECT d.*, true AS fits, 0 AS n FROM (SELECT o.* FROM " + openRows(l, f, rest+newest) + newest +
		") AS o JOIN deposits d ON d.id = o.deposit_id)"
}

// CountByView counts an account's deposits in each view of the dashboard. It reads no more rows of an index
// than most.
func (s DashboardQueries) CountByView(ctx context.Context, accountID id.ID, ending time.Time,
	most int) (map[depositports.ListView]int, error) {
	limit := " LIMIT " + strconv.Itoa(most)
	rows, err := s.DB.Query(ctx, `
		SELECT s.status, (SELECT count(*) FROM (SELECT FROM open_deposits WHERE account_id = $1 AND status = s.status
			ORDER BY created_at`+limit+`) AS o) FROM unnest($3::text[]) AS s(status)
		UNION ALL SELECT 'ending', count(*) FROM (SELECT `+endingWork+` ORDER BY ends_at`+limit+`) AS o
		UNION ALL SELECT 'awaits_tenant', count(*) FROM (SELECT FROM open_deposits WHERE account_id = $1 AND awaits_tenant
			ORDER BY created_at`+limit+`) AS o
		UNION ALL SELECT 'all', count(*) FROM (SELECT FROM deposits WHERE account_id = $1
			ORDER BY created_at DESC`+limit+`) AS d`,
		accountID, ending, statusTexts([]deposit.Status{deposit.Pending, deposit.Incomplete, deposit.PaymentIssue,
			deposit.Active, deposit.Captured}))
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	var of string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&of, &n}, func() error {
		found[of] = n
		return nil
	})
	return map[depositports.ListView]int{
		depositports.ViewAll:            found["all"],
		depositports.ViewAwaitingTenant: min(most, found[string(deposit.Pending)]+found[string(deposit.Incomplete)]),
		depositports.ViewRefused:        min(most, found[string(deposit.PaymentIssue)]+found["awaits_tenant"]),
		depositports.ViewSecured:        found[string(deposit.Active)],
		depositports.ViewCoverEnding:    found["ending"],
		depositports.ViewClaimed:        found[string(deposit.Captured)],
	}, pg.Translate(err)
}
