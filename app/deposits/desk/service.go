// Package desk reads what the operator's pages show, with times in the account's time zone. The operator's acts on
// deposits are in app/deposits.
package desk

import (
	"context"
	"slices"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	Desk        depositports.DashboardReader
	Deposits    depositports.DepositStore
	Collections paymentports.CollectionStore
	Refunds     paymentports.RefundStore
	Audit       ports.AuditLog
	Files       depositports.FileStore
	Contents    depositports.FileContentStore

	Agreements depositports.AgreementStore
	Disputes   paymentports.DisputeStore

	Clock  ports.Clock
	Timers deposit.TimerDurations
}

type Service struct {
	deps   Deps
	months memory[monthOf, int]
	// Counts of work by account, for accounts with much work.
	work memory[id.ID, map[depositports.OverviewGroup]depositports.DepositGroupCount]
}

type monthOf struct {
	account id.ID
	start   time.Time
}

func New(deps Deps) *Service { return &Service{deps: deps} }

// LatestCoverEnd returns the latest end of cover for a stay that begins at startsAt, in that time's zone.
func (s *Service) LatestCoverEnd(startsAt time.Time) time.Time {
	if now := s.deps.Clock.Now(); startsAt.Before(now) {
		startsAt = now.In(startsAt.Location())
	}
	return startsAt.Add(s.deps.Timers.CoverMax)
}

// HasStayEnded reports whether a draft's stay has ended, so that no deposit can be made.
func (s *Service) HasStayEnded(d deposit.Draft) bool { return d.RentalEnded(s.deps.Clock.Now()) }

// DepositRow is a deposit in a list; Debt is nil if there is none.
type DepositRow struct {
	*deposit.Deposit
	Debt *deposit.Debt
}

// ListDeposits returns a page of the account's deposits that match f.
func (s *Service) ListDeposits(ctx context.Context, of connect.Account, f depositports.DashboardFilter,
	page ports.Page) (ports.ListPage[DepositRow], error) {
	f.AccountID = of.ID
	if f.View == depositports.ViewCoverEnding {
		ending := s.deps.Clock.Now().Add(deposit.CoverEndingSoonPeriod)
		if f.EndsBefore.IsZero() || ending.Before(f.EndsBefore) {
			f.EndsBefore = ending
		}
	}
	found, err := s.deps.Desk.DashboardDeposits(ctx, f, page)
	if err != nil {
		return ports.ListPage[DepositRow]{}, err
	}
	rows, err := s.rows(ctx, of, found.Items)
	return ports.ListPage[DepositRow]{Items: rows, Next: found.Next}, err
}

// rows turns deposits into rows of a list, reading all debts in a single statement.
func (s *Service) rows(ctx context.Context, of connect.Account, list []*deposit.Deposit) ([]DepositRow, error) {
	var captured []id.ID
	for _, d := range list {
		if d.Status == deposit.Captured {
			captured = append(captured, d.ID)
		}
	}
	var debts map[id.ID]deposit.Debt
	if len(captured) > 0 {
		var err error
		if debts, err = s.deps.Collections.Debts(ctx, captured); err != nil {
			return nil, err
		}
	}
	rows := make([]DepositRow, len(list))
	for i, d := range list {
		rows[i].Deposit = d.InTimeZone(of.Zone())
		if debt, known := debts[d.ID]; known {
			rows[i].Debt = debt.InTimeZone(of.Zone())
		}
	}
	return rows, nil
}

// mostCounted is the largest number of deposits of a view that are counted exactly.
const mostCounted = 1000

// CountByView counts an account's deposits by view, exactly up to mostCounted.
func (s *Service) CountByView(ctx context.Context,
	accountID id.ID) (map[depositports.ListView]depositports.DepositGroupCount, error) {
	found, err := s.deps.Desk.CountByView(ctx, accountID, s.deps.Clock.Now().Add(deposit.CoverEndingSoonPeriod),
		mostCounted+1)
	counts := map[depositports.ListView]depositports.DepositGroupCount{}
	for view, n := range found {
		counts[view] = depositports.DepositGroupCount{Count: min(n, mostCounted), More: n > mostCounted}
	}
	return counts, err
}

// Overview holds what the operator's first page shows.
type Overview struct {
	Now time.Time
	// The days in which begins of stays and ends of covers count as soon.
	Week   ports.TimeSpan
	Counts map[depositports.OverviewGroup]depositports.DepositGroupCount
	// The first deposits of each kind of open work, for the operator's first page.
	First map[depositports.OverviewGroup][]DepositRow
	// The deposits with refused payments whose tenants can be mailed together; empty for fewer than two.
	Refused []id.ID
	// Deposits made in each of the last twelve months, the present one last.
	Year  []MonthlyDepositCount
	Empty bool // Empty reports whether the account has never had a deposit.
}

// CountOfGroup returns the number of deposits of a kind of work on the operator's first page; each deposit is in
// one group.
func (t Overview) CountOfGroup(kind depositports.OverviewGroup) depositports.DepositGroupCount {
	n := t.Counts[kind]
	switch kind {
	case depositports.OverviewStayBeginning:
		n.Count = t.Counts[depositports.OverviewAwaitingTenant].Soon + t.Counts[depositports.OverviewPaymentRefused].Soon
	case depositports.OverviewAwaitingTenant, depositports.OverviewPaymentRefused:
		n.Count = max(n.Count-n.Soon, 0)
	}
	return n
}

// CountRefusedPayments counts the deposits whose tenant's payment or card charge was refused.
func (t Overview) CountRefusedPayments() depositports.DepositGroupCount {
	payment, card := t.Counts[depositports.OverviewPaymentRefused], t.Counts[depositports.OverviewCardRefused]
	return depositports.DepositGroupCount{Count: payment.Count + card.Count, More: payment.More || card.More}
}

type MonthlyDepositCount struct {
	Start time.Time
	Made  int
}

const (
	firstOf = 5 // The number of deposits that the first page shows of each kind of work.
	// The time after its begin for which an unsecured stay stays urgent.
	begunWithin = 24 * time.Hour
	months      = 12
)

// week returns the time span in which begins of stays and ends of covers count as soon.
func week(now time.Time) ports.TimeSpan {
	return ports.TimeSpan{From: now.Add(-begunWithin), To: now.Add(deposit.CoverEndingSoonPeriod)}
}

// BuildOverview returns an account's open work for the first page.
func (s *Service) BuildOverview(ctx context.Context, of connect.Account) (Overview, error) {
	accountID, now := of.ID, s.deps.Clock.Now().In(of.Zone())
	t := Overview{Now: now, Week: week(now)}
	var err error
	if t.Counts, err = s.countWork(ctx, accountID, now, t.Week); err != nil {
		return t, err
	}
	shown := slices.DeleteFunc(slices.Clone(depositports.OverviewGroups), func(kind depositports.OverviewGroup) bool {
		return kind == depositports.OverviewActive || t.CountOfGroup(kind).Count == 0
	})
	if len(shown) > 0 {
		first, err := s.deps.Desk.DepositsByOverviewGroup(ctx, accountID, shown, t.Week, firstOf)
		if err != nil {
			return t, err
		}
		t.First = map[depositports.OverviewGroup][]DepositRow{}
		for kind, list := range first {
			if t.First[kind], err = s.rows(ctx, of, list); err != nil {
				return t, err
			}
		}
	}
	if t.CountRefusedPayments().Count > 1 {
		if t.Refused, err = s.deps.Desk.RefusedDepositIDs(ctx, accountID, deposit.MaxDepositsPerBulkAct); err != nil {
			return t, err
		}
	}
	if t.Year, err = s.year(ctx, accountID, now); err != nil {
		return t, err
	}
	t.Empty, err = s.empty(ctx, accountID, t)
	return t, err
}

// empty reports whether the account has never had a deposit, which other numbers of the page may already answer.
func (s *Service) empty(ctx context.Context, accountID id.ID, t Overview) (bool, error) {
	if len(t.First) > 0 || t.Counts[depositports.OverviewActive].Count > 0 ||
		slices.ContainsFunc(t.Year, func(m MonthlyDepositCount) bool { return m.Made > 0 }) {
		return false, nil
	}
	made, err := s.deps.Desk.DashboardDeposits(ctx, depositports.DashboardFilter{AccountID: accountID},
		ports.Page{Limit: 1})
	return len(made.Items) == 0, err
}

const (
	// exactWork is the count up to which open work is counted at each view, so that an operator sees it change.
	exactWork = 500
	// mostWork limits the deposits that a count of open work reads.
	mostWork = 10_000
)

// countWork counts an account's deposits by kind of work. It caches a count above exactWork, which reads thousands
// of rows.
func (s *Service) countWork(ctx context.Context, accountID id.ID, now time.Time,
	week ports.TimeSpan) (map[depositports.OverviewGroup]depositports.DepositGroupCount, error) {
	counts, err := s.deps.Desk.CountByOverviewGroup(ctx, accountID, week, exactWork)
	if err != nil {
		return nil, err
	}
	kept, _ := s.work.get(accountID, now)
	for _, kind := range depositports.OverviewGroups {
		if !counts[kind].More {
			continue
		}
		// The account's work is not cached, or its count was below exactWork.
		if kept[kind].Count <= exactWork {
			if kept, err = s.deps.Desk.CountByOverviewGroup(ctx, accountID, week, mostWork); err != nil {
				return nil, err
			}
			s.work.put(accountID, kept, now.Add(keptFor))
		}
		counts[kind] = kept[kind]
	}
	return counts, nil
}

// year counts an account's new deposits in each of the last twelve months. Past months do not change and are cached
// for good, the costly present one for a minute.
func (s *Service) year(ctx context.Context, accountID id.ID, now time.Time) ([]MonthlyDepositCount, error) {
	year := make([]MonthlyDepositCount, months)
	var spans []ports.TimeSpan
	var asked []int
	for i := range year {
		start := time.Date(now.Year(), now.Month()-time.Month(months-1-i), 1, 0, 0, 0, 0, now.Location())
		year[i].Start = start
		made, known := s.months.get(monthOf{accountID, start.UTC()}, now)
		if !known {
			spans, asked = append(spans, ports.TimeSpan{From: start, To: start.AddDate(0, 1, 0)}), append(asked, i)
		}
		year[i].Made = made
	}
	if len(asked) == 0 {
		return year, nil
	}
	counts, err := s.deps.Desk.CountCreatedDeposits(ctx, accountID, spans)
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		year[i].Made = counts[n]
		var until time.Time
		if now.Sub(spans[n].To) <= commitsWithin {
			until = now.Add(keptFor)
		}
		s.months.put(monthOf{accountID, year[i].Start.UTC()}, counts[n], until)
	}
	return year, nil
}

// commitsWithin is the longest time from a deposit's creation to its commit, in which a past month's count may
// change.
const commitsWithin = time.Hour

// keptFor is the time for which a costly changing count is cached.
const keptFor = time.Minute
