// Package desk holds the reads behind the operator's pages: the list of deposits, a deposit with its history, and the
// work that waits. The operator's acts on deposits are in app/deposits.
package desk

import (
	"context"
	"sync"
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
	months monthCache
}

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// List lists the deposits of an account.
func (s *Service) List(ctx context.Context, f depositports.DeskFilter,
	page ports.Page) (ports.List[*deposit.Deposit], error) {
	return s.deps.Desk.DeskDeposits(ctx, f, page)
}

// Today is what the operator's first page shows.
type Today struct {
	Now    time.Time
	Ending time.Time // covers that end before it are depositports.WorkEnding
	Counts map[depositports.Work]depositports.WorkCount
	// First holds the first deposits of each kind of work but WorkActive.
	First map[depositports.Work][]*deposit.Deposit
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
	t := Today{Now: now, Ending: ending, First: map[depositports.Work][]*deposit.Deposit{}}
	var err error
	if t.Counts, err = s.deps.Desk.CountWork(ctx, accountID, ending); err != nil {
		return t, err
	}
	for _, kind := range depositports.Works {
		if kind == depositports.WorkActive || t.Counts[kind].Count == 0 {
			continue
		}
		if t.First[kind], err = s.deps.Desk.OpenWork(ctx, accountID, kind, ending, firstOf); err != nil {
			return t, err
		}
	}
	t.Year, err = s.year(ctx, accountID, now)
	return t, err
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
		made, known := s.months.get(accountID, start, now)
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
		kept := monthCount{made: counts[n]}
		if now.Sub(spans[n].To) <= commitsWithin {
			kept.until = now.Add(presentKept)
		}
		s.months.put(accountID, year[i].Start, kept)
	}
	return year, nil
}

// commitsWithin is a bound of the time between the creation of a deposit and its commit.
const commitsWithin = time.Hour

// presentKept is how long the count of a month that may still grow is shown.
const presentKept = time.Minute

// monthCache keeps counts of months.
type monthCache struct {
	mu     sync.Mutex
	counts map[monthOf]monthCount
}

type monthCount struct {
	made  int
	until time.Time // zero: for ever
}

type monthOf struct {
	account id.ID
	start   time.Time
}

// maxMonths bounds the cache: some megabytes.
const maxMonths = 50_000

func (c *monthCache) get(accountID id.ID, start, now time.Time) (made int, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, known := c.counts[monthOf{accountID, start}]
	return kept.made, known && (kept.until.IsZero() || now.Before(kept.until))
}

func (c *monthCache) put(accountID id.ID, start time.Time, kept monthCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil || len(c.counts) >= maxMonths {
		c.counts = map[monthOf]monthCount{}
	}
	c.counts[monthOf{accountID, start}] = kept
}
