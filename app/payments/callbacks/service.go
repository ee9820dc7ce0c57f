// Package callbacks receives the payment provider's callbacks, and queries the provider about their payments
// and disputes (operations.md, "Callbacks of the payment provider"). A callback is a reason to query the
// provider, never a result.
//
//	callback ──verified──> payment due for a check, or a question ──job──> provider ──> payment, dispute
package callbacks

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
)

// Deps holds the repositories, clients and settings that the handling of callbacks needs.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Questions  paymentports.ProviderQueryStore
	Disputes   paymentports.DisputeStore
	Mails      ports.MailQueue
	Audit      ports.AuditLog
	// The verifier of the provider's callbacks; nil where the provider sends none.
	Callbacks paymentports.CallbackVerifier
	// The source of the payment provider's records; nil for a provider without such records.
	Books    paymentports.ProviderBookReader
	Payments PaymentRechecker
	Clock    ports.Clock
	Entropy  ports.Entropy

	DashboardURL string // The setting DASHBOARD_BASE_URL: the base URL of the operators' pages.
	// VerifyAddresses reports whether e-mail addresses are verified in this service. true: only operators with a
	// verified address are mailed; false: every operator is.
	VerifyAddresses bool
}

// PaymentRechecker queries the provider once more about payments that have ended.
type PaymentRechecker interface {
	// RecheckEndedPayment queries the provider about a payment that has ended in this service without success. paid is
	// true when the payment was paid all the same, else false.
	RecheckEndedPayment(ctx context.Context, paymentID id.ID) (paid bool, err error)
}

// Service receives the payment provider's callbacks, and queries the provider about the payments and disputes
// that the callbacks name.
type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

// CallbackRoute returns the path to which the provider sends its callbacks, and the name of the header with their
// signature.
func (s *Service) CallbackRoute() paymentports.CallbackRoute { return s.deps.Callbacks.CallbackRoute() }

// ErrRefused is the error for a callback that the provider has not signed within 300 seconds of now.
var ErrRefused = fault.New(fault.Invalid, "notice_refused",
	"The signature is missing, wrong or more than 300 seconds away.")

// Receive verifies a callback of the payment provider by its raw body, and stores which payment or dispute the
// provider is to be queried about. A refused callback costs no query. A callback may come again, late and in any
// order.
//
// Returns ErrRefused, or service_unavailable; the provider then sends the callback again.
func (s *Service) Receive(ctx context.Context, body []byte, signature string) error {
	now := s.deps.Clock.Now()
	callback, err := s.deps.Callbacks.VerifyCallback(body, signature, now)
	if errors.Is(err, paymentports.ErrCallbackRefused) {
		return ErrRefused
	}
	if err != nil || !asks(callback) {
		return err
	}
	failpoint.Hit("payment.notice.verified")
	if err := s.deps.Questions.RecordCallback(ctx, callback, s.deps.Entropy.NewID(), now); err != nil {
		return err
	}
	failpoint.Hit("payment.notice.committed")
	return nil
}

// asks reports whether a callback is a reason to query the provider. true: it is about a payment of this
// service, or about a dispute of a record of the provider; false: about anything else.
func asks(n paymentports.Callback) bool {
	return !n.PaymentID.IsZero() || n.Dispute && n.ProviderRef != ""
}

const (
	askBatch = 20
	// The time before the same query to the payment provider is repeated by another process, longer than a query
	// takes.
	askLease   = 2 * time.Minute
	askTimeout = 20 * time.Second // The time limit of a single query to the payment provider.
	// The time by which each failed query to the payment provider prolongs the wait until the next one.
	askStep = time.Minute
	// The number of failed queries after which the wait until the next one grows no further.
	maxSteps = 30
)

// askWaits returns the waits before a query to the payment provider is repeated, by the number of tries that
// failed before.
func askWaits() []time.Duration {
	waits := make([]time.Duration, maxSteps+1)
	for failed := range waits {
		waits[failed] = askLease + time.Duration(failed)*askStep
	}
	return waits
}

// RunDueQueries queries the provider about the payments and disputes that callbacks have named and that are due, and
// returns how many queries were answered. A query that fails is repeated later.
func (s *Service) RunDueQueries(ctx context.Context) (answered int, err error) {
	var failures []error
	for ctx.Err() == nil {
		due, err := s.deps.Questions.DueQueries(ctx, s.deps.Clock.Now(), askWaits(), askBatch)
		if err != nil {
			return answered, err
		}
		for _, q := range due {
			if err := s.ask(ctx, q); err != nil {
				failures = append(failures, err)
				continue
			}
			answered++
		}
		if len(due) < askBatch || len(failures) > 0 {
			break
		}
	}
	return answered, errors.Join(append(failures, ctx.Err())...)
}

func (s *Service) ask(ctx context.Context, q paymentports.ProviderQuery) error {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := s.answer(asking, q); err != nil {
		return err
	}
	return s.deps.Questions.DeleteAnswered(ctx, q)
}

func (s *Service) answer(ctx context.Context, q paymentports.ProviderQuery) error {
	if !q.Dispute {
		_, err := s.deps.Payments.RecheckEndedPayment(ctx, q.PaymentID)
		return err
	}
	if s.deps.Books == nil {
		// The service was changed to another payment provider since the callback was stored.
		return nil
	}
	paymentID := q.PaymentID
	if paymentID.IsZero() {
		var err error
		if paymentID, err = s.deps.Books.PaymentIDOf(ctx, q.ProviderRef); err != nil || paymentID.IsZero() {
			return err
		}
	}
	failpoint.Hit("payment.disputes.before")
	all, err := s.deps.Books.Disputes(ctx, paymentID)
	if err != nil {
		return err
	}
	failpoint.Hit("payment.disputes.answered")
	for _, d := range all {
		d.PaymentID = paymentID
		if err := s.keep(ctx, d, s.deps.Clock.Now()); err != nil {
			return err
		}
	}
	return nil
}
