// Package callbacks queries the payment provider about the payments and disputes in its callbacks
// (operations.md, "Callbacks of the payment provider"). A callback is a reason to query, never a result.
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

type Deps struct {
	UnitOfWork ports.UnitOfWork
	Questions  paymentports.ProviderQueryStore
	Disputes   paymentports.DisputeStore
	Mails      ports.MailQueue
	Audit      ports.AuditLog
	// The verifier of the provider's callbacks; nil where the provider sends none.
	Callbacks paymentports.CallbackVerifier
	// The payment provider's records; nil for a provider without any.
	Books    paymentports.ProviderBookReader
	Payments PaymentRechecker
	Clock    ports.Clock
	Entropy  ports.Entropy

	DashboardURL string // The setting DASHBOARD_BASE_URL.
	// VerifyAddresses reports whether only operators with a verified address are mailed.
	VerifyAddresses bool
}

type PaymentRechecker interface {
	// RecheckEndedPayment queries the provider about a payment that ended without success; paid reports whether it was
	// paid all the same.
	RecheckEndedPayment(ctx context.Context, paymentID id.ID) (paid bool, err error)
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

// CallbackRoute returns the path of the provider's callbacks and the header with their signature.
func (s *Service) CallbackRoute() paymentports.CallbackRoute { return s.deps.Callbacks.CallbackRoute() }

// The error for a callback that the provider has not signed within 300 seconds of now.
var ErrRefused = fault.New(fault.Invalid, "notice_refused",
	"The signature is missing, wrong or more than 300 seconds away.")

// ReceiveCallback verifies a callback, which may come repeatedly and in any order, and stores what to query the
// provider about.
//
// Returns ErrRefused, or service_unavailable; the provider then sends the callback again.
func (s *Service) ReceiveCallback(ctx context.Context, body []byte, signature string) error {
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

// asks reports whether a callback is about a payment of this service or a dispute.
func asks(n paymentports.Callback) bool {
	return !n.PaymentID.IsZero() || n.Dispute && n.ProviderRef != ""
}

const (
	askBatch = 20
	// The time before another process repeats a query to the provider, longer than a query takes.
	askLease   = 2 * time.Minute
	askTimeout = 20 * time.Second // The time limit of a query to the payment provider.
	// The time by which each failed query to the provider prolongs the wait for the next.
	askStep = time.Minute
	// The failed queries to the provider after which the wait grows no further.
	maxSteps = 30
)

// askWaits returns the waits before the next query to the provider, by failed tries.
func askWaits() []time.Duration {
	waits := make([]time.Duration, maxSteps+1)
	for failed := range waits {
		waits[failed] = askLease + time.Duration(failed)*askStep
	}
	return waits
}

// RunDueQueries makes the due queries that callbacks have caused, and returns how many were answered; one that
// fails is repeated.
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
		// The payment provider of the service was changed since the callback was stored.
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
