package deposits

import (
	"bytes"
	"cmp"
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
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// DeskDeposits returns a page of an account's deposits for the dashboard. A search text is looked up in its indexes
// first (ADR 0012); any other list reads the index of its narrowest filter.
func (s Desk) DeskDeposits(ctx context.Context, f depositports.DeskFilter,
	page ports.Page) (ports.List[*deposit.Deposit], error) {
	var none ports.List[*deposit.Deposit]
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
	l := &lists.List{Table: "deposits", Identity: []string{"id"}, Order: []string{"created_at", "id"}, Back: page.Back}
	if f.ByStay() {
		l.Order[0] = "contract_start_at"
	}
	var source string
	if open(f) && few == nil && f.Text == "" && !f.ByStay() && f.Stay == (ports.Span{}) {
		source = openDeposits(l, f, page)
	} else {
		if few != nil {
			l.Where("id = ANY (?::uuid[])", few)
		}
		source = deskList(l, f, page, sought).Rows(page)
	}
	sql := SelectDepositsOf(source, "d.fits, d.n") + l.OrderBy("d.")
	return lists.Read(ctx, s.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.Listed[*deposit.Deposit], err error) {
			got.Item, err = ScanDeposit(row, s.Sealer, &got.Fits, &got.N)
			return got, err
		}, f.Place)
}

// narrowed returns the filter with only the statuses that all its parts permit, and whether any status is left.
func narrowed(f depositports.DeskFilter) (depositports.DeskFilter, bool) {
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

// deskList describes the SQL query of an account's list of deposits. sought is the result of a search for a text.
func deskList(l *lists.List, f depositports.DeskFilter, page ports.Page, sought *search) *lists.List {
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
	if !f.ByStay() { // The index that the list of deposits reads does not contain stays, so compare them by row.
		within = l.Filter
	}
	if !f.Stay.From.IsZero() {
		within("contract_end_at >= ?", f.Stay.From)
	}
	if !f.Stay.To.IsZero() && (!f.ByStay() || page.Back || page.Cursor.IsZero() || !page.Cursor.At.Before(f.Stay.To)) {
		// Omit this condition where the cursor's condition implies it: both together would mislead Postgres's planner.
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
	case depositports.ViewAll, depositports.ViewAwaiting, depositports.ViewSecured, depositports.ViewEnding:
	}
	if !f.EndsBefore.IsZero() {
		l.Filter("expires_at < ?", f.EndsBefore)
	}
	l.After(page.Cursor)
	return l
}

// isOpen finds a captured deposit's row in the table open_deposits. With EXISTS, Postgres may read the whole table.
const isOpen = `(SELECT true FROM open_deposits o WHERE o.account_id = deposits.account_id AND o.status = 'captured'
	AND o.created_at = deposits.created_at AND o.deposit_id = deposits.id`

func statusTexts(statuses []deposit.Status) []string {
	return pg.Each(statuses, func(s deposit.Status) string { return string(s) })
}

// open reports whether the table open_deposits contains every deposit of the filtered list; otherwise false.
func open(f depositports.DeskFilter) bool {
	return f.View.Statuses() != nil || len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, deposit.Status.Final)
}

// openRows returns the SQL of the rows of open_deposits that match a filter. rest ends the query of each status.
func openRows(l *lists.List, f depositports.DeskFilter, rest string) string {
	const row = `SELECT o.created_at, o.deposit_id FROM open_deposits o WHERE o.account_id = `
	account, statuses, parts := l.Argument(f.AccountID), f.Statuses, []string(nil)
	if f.View == depositports.ViewRefused && slices.Contains(statuses, deposit.Captured) {
		parts = append(parts, "("+row+account+" AND o.awaits_tenant"+rest+")")
		statuses = slices.DeleteFunc(slices.Clone(statuses), func(s deposit.Status) bool { return s == deposit.Captured })
	}
	if len(statuses) > 0 {
		parts = append(parts, "(SELECT o.* FROM unnest("+l.Argument(statusTexts(statuses))+
			"::text[]) AS s(status) CROSS JOIN LATERAL ("+row+account+" AND o.status = s.status"+rest+") AS o)")
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ") AS o"
}

// fewOpen returns the ids of the open deposits that match a filter, if they may be few among the rows that the list
// would read otherwise. It returns nil if they are not few, or are more than maxFound and so frequent in the list.
func (s Desk) fewOpen(ctx context.Context, f depositports.DeskFilter, sought *search) ([]id.ID, error) {
	if !open(f) || sought != nil && !sought.frequent ||
		sought == nil && !f.ByStay() && f.Stay == (ports.Span{}) && f.EndsBefore.IsZero() {
		return nil, nil
	}
	most, l := strconv.Itoa(maxFound+1), &lists.List{}
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

// openDeposits returns the SQL of a page of the list of deposits whose ids are in the table open_deposits.
func openDeposits(l *lists.List, f depositports.DeskFilter, page ports.Page) string {
	rest := ""
	if !page.Cursor.IsZero() {
		rest = " AND (o.created_at, o.deposit_id) " + l.Beyond() + " (" + l.Argument(page.Cursor.At) + ", " +
			l.Argument(page.Cursor.ID) + ")"
	}
	if !f.EndsBefore.IsZero() {
		rest += " AND o.ends_at < " + l.Argument(f.EndsBefore)
	}
	newest := " ORDER BY o.created_at DESC, o.deposit_id DESC"
	if page.Back {
		newest = " ORDER BY o.created_at, o.deposit_id"
	}
	newest += " LIMIT " + strconv.Itoa(lists.LimitFor(page))
	return "(SELECT d.*, true AS fits, 0 AS n FROM (SELECT o.* FROM " + openRows(l, f, rest+newest) + newest +
		") AS o JOIN deposits d ON d.id = o.deposit_id)"
}

// CountViews returns the number of an account's deposits in each view of the dashboard. From each index it reads no
// more rows than most.
func (s Desk) CountViews(ctx context.Context, accountID id.ID, ending time.Time,
	most int) (map[depositports.View]int, error) {
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
	return map[depositports.View]int{
		depositports.ViewAll:      found["all"],
		depositports.ViewAwaiting: min(most, found[string(deposit.Pending)]+found[string(deposit.Incomplete)]),
		depositports.ViewRefused:  min(most, found[string(deposit.PaymentIssue)]+found["awaits_tenant"]),
		depositports.ViewSecured:  found[string(deposit.Active)],
		depositports.ViewEnding:   found["ending"],
		depositports.ViewClaimed:  found[string(deposit.Captured)],
	}, pg.Translate(err)
}

// SQL about the deposits that wait for their operator. $1 is the account; the week begins at $3 and ends at $2.
const (
	// endingWork selects the open deposits whose cover ends before the end of the week (depositports.WorkEnding). It
	// names the status, since the index of ends contains active deposits only.
	endingWork = `FROM open_deposits WHERE account_id = $1 AND status = 'active' AND ends_at < $2`
	// beginsSoon is the SQL condition that the stay of a row o of status s begins in the week (depositports.WorkSoon).
	// It is null for rows that are older than the column starts_at.
	beginsSoon = `(s.status NOT IN ('active', 'captured') AND o.starts_at >= $3 AND o.starts_at < $2)`
)

// maxWork is the most deposits of a status that are read to find the first ones that wait for an operator's act.
const maxWork = 2000

// workStatuses returns each kind of operator's work (such as a refused card) with each status of its deposits. It
// omits the kinds that have an SQL statement of their own.
func workStatuses(of []depositports.Work) (kinds, statuses []string) {
	for _, kind := range of {
		if kind == depositports.WorkEnding || kind == depositports.WorkSoon {
			continue
		}
		for _, status := range kind.Statuses() {
			kinds, statuses = append(kinds, string(kind)), append(statuses, string(status))
		}
	}
	return kinds, statuses
}

// countedWork lists the kinds of operator's work, such as a refused payment, that are counted by deposits' status.
var countedWork = []depositports.Work{depositports.WorkAwaiting, depositports.WorkRefused, depositports.WorkCollecting,
	depositports.WorkActive}

// CountWork returns number and sum of an account's deposits in each kind of operator's work (e.g. a refused card).
// It reads at most one row more than most per status. The ORDER BY keeps the cached plan from reading whole tables.
func (s Desk) CountWork(ctx context.Context, accountID id.ID, week ports.Span,
	most int) (map[depositports.Work]depositports.WorkCount, error) {
	kinds, statuses := workStatuses(countedWork)
	rows, err := s.DB.Query(ctx, `
		SELECT o.kind, count(*), sum(o.amount_cents)::bigint, count(*) FILTER (WHERE o.soon) FROM (
			SELECT o.amount_cents, `+beginsSoon+` AS soon,
				CASE WHEN s.status = 'captured' AND o.awaits_tenant THEN '`+string(depositports.WorkCardRefused)+`'
					ELSE s.kind END AS kind
			FROM unnest($5::text[], $6::text[]) AS s(kind, status) CROSS JOIN LATERAL (
				SELECT amount_cents, starts_at, awaits_tenant FROM open_deposits WHERE account_id = $1 AND status = s.status
				ORDER BY created_at LIMIT $4) AS o) AS o
		GROUP BY o.kind
		UNION ALL SELECT '`+string(depositports.WorkEnding)+`', count(*), coalesce(sum(amount_cents), 0)::bigint, 0 FROM (
			SELECT amount_cents `+endingWork+` LIMIT $4) AS o`, accountID, week.To, week.From, most+1, kinds, statuses)
	if err != nil {
		return nil, err
	}
	counts := map[depositports.Work]depositports.WorkCount{}
	captured := 0
	var kind depositports.Work
	var n, soon int
	var amount money.Cents
	_, err = pgx.ForEachRow(rows, []any{&kind, &n, &amount, &soon}, func() error {
		counts[kind] = depositports.WorkCount{Count: min(n, most), Amount: amount, More: n > most, Soon: soon}
		if slices.Contains(kind.Statuses(), deposit.Captured) {
			captured += n
		}
		return nil
	})
	if captured > most { // Not all captured deposits were read, so both counts of them are marked as incomplete.
		for _, kind := range []depositports.Work{depositports.WorkCardRefused, depositports.WorkCollecting} {
			part := counts[kind]
			part.More = true
			counts[kind] = part
		}
	}
	return counts, pg.Translate(err)
}

// OpenWork returns the first deposits of an account for each kind of work that waits for its operator. A deposit
// whose status has changed since its row in open_deposits was written is left out.
func (s Desk) OpenWork(ctx context.Context, accountID id.ID, of []depositports.Work, week ports.Span,
	limit int) (map[depositports.Work][]*deposit.Deposit, error) {
	endingLimit := 0
	if slices.Contains(of, depositports.WorkEnding) {
		endingLimit = limit
	}
	soon := []string{}
	if slices.Contains(of, depositports.WorkSoon) {
		soon = statusTexts(depositports.WorkSoon.Statuses())
	}
	kinds, statuses := workStatuses(of)
	source := `(SELECT d.*, o.kind FROM (
		SELECT s.kind, s.status, o.deposit_id FROM unnest($6::text[], $7::text[]) AS s(kind, status) CROSS JOIN LATERAL (
			SELECT o.deposit_id FROM (
				SELECT starts_at, created_at, awaits_tenant, deposit_id FROM open_deposits
				WHERE account_id = $1 AND status = s.status
				ORDER BY created_at DESC, deposit_id DESC LIMIT ` + strconv.Itoa(maxWork) + `) AS o
			WHERE CASE s.status WHEN 'captured' THEN o.awaits_tenant = (s.kind = '` +
		string(depositports.WorkCardRefused) + `') ELSE ` + beginsSoon + ` IS NOT TRUE END
			ORDER BY o.created_at DESC, o.deposit_id DESC LIMIT $4) AS o
		UNION ALL SELECT '` + string(depositports.WorkSoon) + `', s.status, o.deposit_id FROM unnest($8::text[]) AS s(status)
		CROSS JOIN LATERAL (
			SELECT o.deposit_id FROM (
				SELECT starts_at, deposit_id FROM open_deposits WHERE account_id = $1 AND status = s.status
				ORDER BY created_at LIMIT ` + strconv.Itoa(maxWork) + `) AS o
			WHERE ` + beginsSoon + ` ORDER BY o.starts_at, o.deposit_id LIMIT $4) AS o
		UNION ALL (SELECT '` + string(depositports.WorkEnding) + `', status, deposit_id ` + endingWork + `
			ORDER BY ends_at, deposit_id LIMIT $5)) AS o
		JOIN deposits d ON d.id = o.deposit_id AND d.status = o.status)`
	rows, err := s.DB.Query(ctx, SelectDepositsOf(source, "d.kind"), accountID, week.To, week.From, limit, endingLimit,
		kinds, statuses, soon)
	if err != nil {
		return nil, err
	}
	found := map[depositports.Work][]*deposit.Deposit{}
	for rows.Next() {
		var kind depositports.Work
		d, err := ScanDeposit(rows, s.Sealer, &kind)
		if err != nil {
			rows.Close()
			return nil, pg.Translate(err)
		}
		found[kind] = append(found[kind], d)
	}
	for kind, all := range found {
		slices.SortFunc(all, func(a, b *deposit.Deposit) int { return compareWork(kind, a, b) })
		found[kind] = all[:min(len(all), limit)]
	}
	return found, pg.Translate(rows.Err())
}

// compareWork compares two deposits by the order in which OpenWork returns those with the same kind of open work.
func compareWork(kind depositports.Work, a, b *deposit.Deposit) int {
	switch kind {
	case depositports.WorkSoon:
		return cmp.Or(a.ContractStartAt.Compare(b.ContractStartAt), bytes.Compare(a.ID[:], b.ID[:]))
	case depositports.WorkEnding:
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), bytes.Compare(a.ID[:], b.ID[:]))
	}
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), bytes.Compare(b.ID[:], a.ID[:]))
}

func (s Desk) Refused(ctx context.Context, accountID id.ID, limit int) ([]id.ID, error) {
	rows, err := s.DB.Query(ctx, `
		SELECT deposit_id FROM ((SELECT deposit_id FROM open_deposits WHERE account_id = $1 AND status = 'payment_issue'
			ORDER BY created_at DESC, deposit_id DESC LIMIT $2)
		UNION ALL (SELECT deposit_id FROM open_deposits WHERE account_id = $1 AND awaits_tenant
			ORDER BY created_at DESC, deposit_id DESC LIMIT $2)) AS o
		LIMIT $2`, accountID, limit)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	return ids, pg.Translate(err)
}

// CountMade returns how many deposits an account made in each span of time. Except for the newest pages of the
// table, the counts read only the index.
func (s Desk) CountMade(ctx context.Context, accountID id.ID, spans []ports.Span) ([]int, error) {
	from, to := pg.Each(spans, func(s ports.Span) time.Time { return s.From }),
		pg.Each(spans, func(s ports.Span) time.Time { return s.To })
	rows, err := s.DB.Query(ctx,
		`SELECT (SELECT count(*) FROM deposits d WHERE d.account_id = $1 AND d.created_at >= s.starts
			AND d.created_at < s.ends)
		FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS s(starts, ends, n) ORDER BY s.n`, accountID,
		from, to)
	if err != nil {
		return nil, err
	}
	counts, err := pgx.CollectRows(rows, pgx.RowTo[int])
	return counts, pg.Translate(err)
}
