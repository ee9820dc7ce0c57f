// Package desk holds the reads behind the operator's pages: the list of deposits, a deposit with its history, and the
// work that waits. The operator's acts on deposits are in app/deposits.
package desk

import (
	"context"
	"slices"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// Deps are the capabilities of the reads.
type Deps struct {
	Desk        depositports.Desk
	Deposits    depositports.Deposits
	Collections paymentports.Collections
	Refunds     paymentports.Refunds
	Audit       ports.AuditLog
	Files       depositports.Files
	Contents    depositports.FileContents

	Agreements depositports.Agreements
	Disputes   paymentports.Disputes

	Clock  ports.Clock
	Timers deposit.Timers
}

// Service runs the reads.
type Service struct {
	deps   Deps
	months memory[monthOf, int]
	work   memory[id.ID, map[depositports.Work]depositports.WorkCount] // by account, of accounts with much work
}

// monthOf is a month of an account.
type monthOf struct {
	account id.ID
	start   time.Time
}

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// LastCovered is the time until which a stay that begins at startsAt can be covered at best: the tenant pays on its
// first day, or now.
func (s *Service) LastCovered(startsAt time.Time) time.Time {
	if now := s.deps.Clock.Now(); startsAt.Before(now) {
		startsAt = now
	}
	return startsAt.Add(s.deps.Timers.CoverageMax)
}

// Row is a deposit of a list. Debt is that of a captured deposit; nil otherwise.
type Row struct {
	*deposit.Deposit
	Debt *deposit.Debt
}

// List lists the deposits of an account.
func (s *Service) List(ctx context.Context, f depositports.DeskFilter, page ports.Page) (ports.List[Row], error) {
	found, err := s.deps.Desk.DeskDeposits(ctx, f, page)
	if err != nil {
		return ports.List[Row]{}, err
	}
	rows, err := s.rows(ctx, found.Items)
	return ports.List[Row]{Items: rows, Next: found.Next}, err
}

// rows makes deposits rows of a list: the debts of all captured ones are read in one statement.
func (s *Service) rows(ctx context.Context, list []*deposit.Deposit) ([]Row, error) {
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
	rows := make([]Row, len(list))
	for i, d := range list {
		rows[i].Deposit = d
		if debt, known := debts[d.ID]; known {
			rows[i].Debt = &debt
		}
	}
	return rows, nil
}

// Today is what the operator's first page shows.
type Today struct {
	Now    time.Time
	Ending time.Time // covers that end before it are depositports.WorkEnding
	Counts map[depositports.Work]depositports.WorkCount
	// First holds the first deposits of each kind of work but WorkActive.
	First map[depositports.Work][]Row
	Year  []Month // the last twelve months, the present one last
}

// Month is a month of the year, in UTC, and how many deposits were made in it.
type Month struct {
	Start time.Time
	Made  int
}

const (
	firstOf = 5 // deposits of each kind of work that Today shows
	months  = 12
)

// Today reads the work of an account.
func (s *Service) Today(ctx context.Context, accountID id.ID) (Today, error) {
	now := s.deps.Clock.Now()
	ending := now.Add(deposit.EndingSoon)
	t := Today{Now: now, Ending: ending}
	var err error
	if t.Counts, err = s.countWork(ctx, accountID, now, ending); err != nil {
		return t, err
	}
	shown := slices.DeleteFunc(slices.Clone(depositports.Works), func(kind depositports.Work) bool {
		return kind == depositports.WorkActive || t.Counts[kind].Count == 0
	})
	if len(shown) > 0 {
		first, err := s.deps.Desk.OpenWork(ctx, accountID, shown, ending, firstOf)
		if err != nil {
			return t, err
		}
		t.First = map[depositports.Work][]Row{}
		for kind, list := range first {
			if t.First[kind], err = s.rows(ctx, list); err != nil {
				return t, err
			}
		}
	}
	t.Year, err = s.year(ctx, accountID, now)
	return t, err
}

const (
	// exactWork is how many deposits of a kind are counted at each view: after an act, an operator sees the number change.
	exactWork = 500
	// mostWork bounds the deposits that a figure counts.
	mostWork = 10_000
)

// countWork counts the deposits of each kind of work. A count above exactWork is kept for keptFor, because it reads
// thousands of rows.
func (s *Service) countWork(ctx context.Context, accountID id.ID, now,
	ending time.Time) (map[depositports.Work]depositports.WorkCount, error) {
	counts, err := s.deps.Desk.CountWork(ctx, accountID, ending, exactWork)
	if err != nil {
		return nil, err
	}
	kept, _ := s.work.get(accountID, now)
	for _, kind := range depositports.Works {
		if !counts[kind].More {
			continue
		}
		if kept[kind].Count <= exactWork { // not counted yet, or grown since
			if kept, err = s.deps.Desk.CountWork(ctx, accountID, ending, mostWork); err != nil {
				return nil, err
			}
			s.work.put(accountID, kept, now.Add(keptFor))
		}
		counts[kind] = kept[kind]
	}
	return counts, nil
}

// year counts the deposits of each month. No deposit is removed, so the count of a month that is over stays. That of
// the present month costs the most, and is kept for a minute.
func (s *Service) year(ctx context.Context, accountID id.ID, now time.Time) ([]Month, error) {
	year := make([]Month, months)
	var spans []ports.Span
	var asked []int
	for i := range year {
		start := time.Date(now.Year(), now.Month()-time.Month(months-1-i), 1, 0, 0, 0, 0, time.UTC)
		year[i].Start = start
		made, known := s.months.get(monthOf{accountID, start}, now)
		if !known {
			spans, asked = append(spans, ports.Span{From: start, To: start.AddDate(0, 1, 0)}), append(asked, i)
		}
		year[i].Made = made
	}
	if len(asked) == 0 {
		return year, nil
	}
	counts, err := s.deps.Desk.CountMade(ctx, accountID, spans)
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		year[i].Made = counts[n]
		var until time.Time
		if now.Sub(spans[n].To) <= commitsWithin {
			until = now.Add(keptFor)
		}
		s.months.put(monthOf{accountID, year[i].Start}, counts[n], until)
	}
	return year, nil
}

// commitsWithin is a bound of the time between the creation of a deposit and its commit.
const commitsWithin = time.Hour

// keptFor is how long a number is shown that costs much to count and may still change.
const keptFor = time.Minute
