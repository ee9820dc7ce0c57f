// Package books compares records of payments, refunds and disputes with the payment provider's, and makes
// operators' statements.
package books

import (
	"context"
	"log/slog"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	Ours paymentports.OwnBookStore
	// The payment provider's records; nil for a provider without any.
	Theirs paymentports.ProviderBookReader
	Runs   paymentports.OwnBookStore

	Statements paymentports.StatementReader
	Clock      ports.Clock
	Log        *slog.Logger
}

// Service compares payments with the provider's records and makes operators' statements.
type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

// The errors of a comparison of payments with the provider's records.
var (
	ErrNoBooks       = fault.New(fault.Unavailable, "no_payment_books", "The payment provider of this service has no books.")
	ErrInvalidPeriod = fault.New(fault.Invalid, "invalid_period", "from must lie before to.")
)

const (
	batch = 500
	// earlier is the longest time by which a payment may have succeeded at the provider before it was recorded: a page
	// is open for a day, and an outage may delay the query.
	earlier = 26 * time.Hour
)

// RecordDifference is a payment, refund or dispute whose records differ; a side without a record is "".
type RecordDifference struct {
	Kind        paymentports.BookEntryKind
	PaymentID   id.ID
	DepositID   id.ID
	ProviderRef string
	Ours        string // This service's status and amount, such as "succeeded 17.50".
	Theirs      string
}

// ReconciliationReport is the result of comparing payments with the provider's records.
type ReconciliationReport struct {
	Checked     int // The number of records that were compared, of this service and of the payment provider.
	Differences []RecordDifference
	Due         []paymentports.AccountTotals
}

// Reconcile compares this service's and the provider's records at or after from and before to. Own records must be
// found at the provider in that time or the day before.
//
// Returns ErrInvalidPeriod, ErrNoBooks or service_unavailable.
func (s *Service) Reconcile(ctx context.Context, from, to time.Time) (ReconciliationReport, error) {
	switch {
	case !from.Before(to):
		return ReconciliationReport{}, ErrInvalidPeriod
	case s.deps.Theirs == nil:
		return ReconciliationReport{}, ErrNoBooks
	}
	c := comparison{from: from, seen: map[string]bool{}}
	if err := s.theirs(ctx, &c, to); err != nil {
		return ReconciliationReport{}, err
	}
	for _, kind := range []paymentports.BookEntryKind{paymentports.BookEntryPayment, paymentports.BookEntryRefund,
		paymentports.BookEntryDispute} {
		own, err := s.deps.Ours.EntriesBetween(ctx, kind, from, to)
		if err != nil {
			return ReconciliationReport{}, err
		}
		c.missing(kind, own)
	}
	due, err := s.deps.Ours.TotalsByAccount(ctx, from, to)
	c.report.Due = due
	return c.report, err
}

type comparison struct {
	from   time.Time
	seen   map[string]bool // The payment provider's records read so far, by kind and key.
	report ReconciliationReport
}

func mark(kind paymentports.BookEntryKind, key string) string { return string(kind) + " " + key }

// key returns the key of this service's record to which a provider's record belongs; "" for none.
func key(e paymentports.BookEntry) string {
	switch {
	case e.Kind == paymentports.BookEntryPayment && !e.PaymentID.IsZero():
		return e.PaymentID.String()
	case e.Kind == paymentports.BookEntryRefund && !e.RefundID.IsZero():
		return e.RefundID.String()
	case e.Kind == paymentports.BookEntryDispute:
		return e.Ref
	}
	return ""
}

// theirs compares the provider's records with this service's, batch by batch.
func (s *Service) theirs(ctx context.Context, c *comparison, to time.Time) error {
	var some []paymentports.BookEntry
	for e, err := range s.deps.Theirs.BookEntries(ctx, c.from.Add(-earlier), to) {
		if err != nil {
			return err
		}
		if some = append(some, e); len(some) == batch {
			if err := s.compareBatch(ctx, c, some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return s.compareBatch(ctx, c, some)
}

func (s *Service) compareBatch(ctx context.Context, c *comparison, some []paymentports.BookEntry) error {
	own := map[string]paymentports.OwnBookEntry{}
	for kind, of := range keysOf(some) {
		found, err := s.deps.Ours.EntriesByKey(ctx, kind, of)
		if err != nil {
			return err
		}
		for k, e := range found {
			own[mark(kind, k)] = e
		}
	}
	for _, e := range some {
		c.compare(own[mark(e.Kind, key(e))], e)
	}
	return nil
}

func keysOf(some []paymentports.BookEntry) map[paymentports.BookEntryKind][]string {
	keys := map[paymentports.BookEntryKind][]string{}
	for _, e := range some {
		if k := key(e); k != "" {
			keys[e.Kind] = append(keys[e.Kind], k)
		}
	}
	return keys
}

// compare compares a provider's record with its own one. A payment charged twice has two at the provider.
func (c *comparison) compare(own paymentports.OwnBookEntry, e paymentports.BookEntry) {
	k := mark(e.Kind, key(e))
	twice := key(e) != "" && c.seen[k]
	if key(e) != "" {
		c.seen[k] = true
	}
	if e.At.Before(c.from) && !twice {
		return
	}
	c.report.Checked++
	if twice {
		own = paymentports.OwnBookEntry{}
	}
	if own.Key == "" || own.Amount != e.Amount || own.Status != e.Status || e.Currency != paymentports.PaymentCurrency {
		c.differs(own, e)
	}
}

// missing adds to the report the records that the provider does not have.
func (c *comparison) missing(kind paymentports.BookEntryKind, own []paymentports.OwnBookEntry) {
	for _, e := range own {
		if !c.seen[mark(kind, e.Key)] {
			c.report.Checked++
			c.differs(e, paymentports.BookEntry{})
		}
	}
}

func (c *comparison) differs(own paymentports.OwnBookEntry, e paymentports.BookEntry) {
	d := RecordDifference{Kind: own.Kind, PaymentID: own.PaymentID, DepositID: own.DepositID, ProviderRef: own.ProviderRef}
	if own.Key != "" {
		d.Ours = described(own.Kind, own.Status, own.Amount, paymentports.PaymentCurrency)
	}
	if e.Ref != "" || e.Kind != "" {
		d.Kind, d.ProviderRef, d.Theirs = e.Kind, e.Ref, described(e.Kind, e.Status, e.Amount, e.Currency)
		if d.PaymentID.IsZero() {
			d.PaymentID, d.DepositID = e.PaymentID, e.DepositID
		}
	}
	c.report.Differences = append(c.report.Differences, d)
}

// described returns a record as text, with a currency only if it is not that of this service.
func described(kind paymentports.BookEntryKind, status string, amount money.Cents, currency string) string {
	text := string(kind) + " " + status + " " + amount.String()
	if currency != paymentports.PaymentCurrency {
		text += " " + currency
	}
	return text
}

const (
	runEvery = 24 * time.Hour
	// The time that the daily comparison with the provider looks back; a difference stays in the metric as long.
	runSpan = 7 * 24 * time.Hour
	// The age that a record must have to be compared with the provider's: CheckDuePayments may not have queried the
	// provider about newer ones.
	runRest = time.Hour
)

// ReconcileDaily compares payments with the provider's unless a comparison began within a day, and returns the last
// result. One that fails is made again within the hour.
//
// Returns ErrNoBooks or service_unavailable.
func (s *Service) ReconcileDaily(ctx context.Context) (paymentports.ReconciliationRun, error) {
	if s.deps.Theirs == nil {
		return paymentports.ReconciliationRun{}, ErrNoBooks
	}
	now := s.deps.Clock.Now()
	mine, err := s.deps.Runs.BeginReconciliation(ctx, now, now.Add(-runEvery))
	if err != nil {
		return paymentports.ReconciliationRun{}, err
	}
	if mine {
		report, err := s.Reconcile(ctx, now.Add(-runSpan), now.Add(-runRest))
		if err != nil {
			return paymentports.ReconciliationRun{}, err
		}
		s.log(ctx, report.Differences)
		run := paymentports.ReconciliationRun{EndedAt: s.deps.Clock.Now(), Checked: report.Checked,
			Differences: len(report.Differences)}
		if err := s.deps.Runs.EndReconciliation(ctx, run); err != nil {
			return run, err
		}
	}
	return s.deps.Runs.LastReconciliation(ctx)
}

// The largest number of differences that a comparison with the provider writes to the log; the metric counts all.
const maxLogged = 50

func (s *Service) log(ctx context.Context, all []RecordDifference) {
	for _, d := range all[:min(len(all), maxLogged)] {
		s.deps.Log.WarnContext(ctx, "our books and those of the payment provider differ", "payment",
			id.Payment.Of(d.PaymentID), "deposit", id.Deposit.Of(d.DepositID),
			"provider_ref", d.ProviderRef, "ours", d.Ours, "theirs", d.Theirs)
	}
}
