// Package callbacks takes the payment provider's callbacks, and asks the provider what they are about (operations.md,
// "Callbacks of the payment provider"). A callback is a reason to ask, never an answer.
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

// Deps holds the capabilities of the use cases.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Questions  paymentports.PaymentQuestions
	Disputes   paymentports.Disputes
	Mails      ports.Mails
	Audit      ports.AuditLog
	Callbacks  paymentports.Callbacks    // nil where the provider sends none
	Books      paymentports.PaymentBooks // nil where the provider has none
	Payments   Payments
	Clock      ports.Clock
	Entropy    ports.Entropy

	DashboardURL string // DASHBOARD_BASE_URL
	// VerifyAddresses says that addresses are verified in this service: only operators with a verified address are
	// told.
	VerifyAddresses bool
}

// Payments looks once more at payments that have ended; payments.Service implements it.
type Payments interface {
	// LookAgain asks the provider about a payment that has ended here without success. paid tells that it was paid all
	// the same.
	LookAgain(ctx context.Context, paymentID id.ID) (paid bool, err error)
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// Route is where the provider sends its callbacks, and the header with their signature.
func (s *Service) Route() paymentports.CallbackRoute { return s.deps.Callbacks.Route() }

// ErrRefused refuses a callback that the provider has not signed within 300 seconds of now.
var ErrRefused = fault.New(fault.Invalid, "notice_refused",
	"The signature is missing, wrong or more than 300 seconds away.")

// Take verifies a callback by its raw body, and notes what is to be asked. A refused callback costs no query. A
// callback may come again, late and in any order.
//
// Returns ErrRefused, or service_unavailable; the provider then sends the callback again.
func (s *Service) Take(ctx context.Context, body []byte, signature string) error {
	now := s.deps.Clock.Now()
	callback, err := s.deps.Callbacks.Callback(body, signature, now)
	if errors.Is(err, paymentports.ErrCallbackRefused) {
		return ErrRefused
	}
	if err != nil || !asks(callback) {
		return err
	}
	failpoint.Hit("payment.notice.verified")
	if err := s.deps.Questions.Raise(ctx, callback, s.deps.Entropy.NewID(), now); err != nil {
		return err
	}
	failpoint.Hit("payment.notice.committed")
	return nil
}

// asks reports whether a callback is a reason to ask: it names our payment, or a dispute about a record of the
// provider.
func asks(n paymentports.Callback) bool {
	return !n.PaymentID.IsZero() || n.Dispute && n.ProviderRef != ""
}

const (
	askBatch   = 20
	askLease   = 2 * time.Minute  // longer than a question takes
	askTimeout = 20 * time.Second // of a single question
	askStep    = time.Minute      // by which each failed try prolongs the wait until the next …
	maxSteps   = 30               // … this often
)

// askWaits are the times until a question is asked again, by the tries that failed before.
func askWaits() []time.Duration {
	waits := make([]time.Duration, maxSteps+1)
	for failed := range waits {
		waits[failed] = askLease + time.Duration(failed)*askStep
	}
	return waits
}

// Ask asks the provider the questions that are due, and gives how many were answered. A question that fails is asked
// again.
func (s *Service) Ask(ctx context.Context) (answered int, err error) {
	var failures []error
	for ctx.Err() == nil {
		due, err := s.deps.Questions.QuestionsDue(ctx, s.deps.Clock.Now(), askWaits(), askBatch)
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

func (s *Service) ask(ctx context.Context, q paymentports.PaymentQuestion) error {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := s.answer(asking, q); err != nil {
		return err
	}
	return s.deps.Questions.Answered(ctx, q)
}

func (s *Service) answer(ctx context.Context, q paymentports.PaymentQuestion) error {
	if !q.Dispute {
		_, err := s.deps.Payments.LookAgain(ctx, q.PaymentID)
		return err
	}
	if s.deps.Books == nil {
		return nil // another provider is set up now
	}
	paymentID := q.PaymentID
	if paymentID.IsZero() {
		var err error
		if paymentID, err = s.deps.Books.Payment(ctx, q.ProviderRef); err != nil || paymentID.IsZero() {
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
