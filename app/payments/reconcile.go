package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/internal/parallel"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

const (
	// unknownGrace is how long a payment may be unknown to the provider before the payment is closed: the request that
	// opens the page may still be on its way. Requests of this service end well before that.
	unknownGrace = 2 * time.Minute
	// providerTimeout bounds one payment's questions to the provider.
	providerTimeout = 20 * time.Second
)

// Reconcile asks the provider about payments left in processing: the tenant never came back, the process crashed, or the
// provider could not be reached. Reconcile also collects captured amounts. It gives how many payments were settled.
func (s *Service) Reconcile(ctx context.Context) (settled int, err error) {
	now := s.deps.Clock.Now()
	for ctx.Err() == nil {
		due, err := s.deps.Payments.PaymentsToCheck(ctx, now, parallel.Batch)
		if err != nil {
			return settled, err
		}
		parallel.Each(due, func(p deposit.Payment) (bool, error) { return s.reconcile(ctx, p, now) },
			func(p deposit.Payment, done bool, err error) {
				if err != nil {
					s.deps.Log.ErrorContext(ctx, "payment not reconciled", "payment", id.Payment.Of(p.ID), "kind", string(p.Kind), "attempt", p.Attempts+1, "error", err)
				}
				if done {
					settled++
				}
			})
		if len(due) < parallel.Batch {
			break
		}
	}
	return settled, ctx.Err()
}

// reconcile asks about one payment and records the answer, or the time of the next question.
func (s *Service) reconcile(ctx context.Context, p deposit.Payment, now time.Time) (settled bool, err error) {
	if p.Kind == deposit.Collection {
		return s.reconcileCollection(ctx, p, now)
	}
	answer, err := s.lookUpFee(ctx, p, now)
	if err != nil || answer.Status == ports.ProviderOpen || answer.Status == ports.ProviderUnknown {
		return false, errors.Join(err, s.postpone(ctx, p, answer, p.Attempts+1, now.Add(feeWait(p.Attempts+1))))
	}
	err = s.recordFee(ctx, p, answer, now)
	return err == nil, err
}

// lookUpFee gives the provider's answer about a fee. An unknown payment is closed after unknownGrace, so that a page that
// opens even later cannot be paid.
func (s *Service) lookUpFee(ctx context.Context, p deposit.Payment, now time.Time) (ports.ProviderPayment, error) {
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	answer, err := s.deps.Provider.Lookup(ctx, p.ID)
	if err != nil || answer.Status != ports.ProviderUnknown || now.Sub(p.CreatedAt) < unknownGrace {
		return answer, err
	}
	answer, err = s.deps.Provider.Close(ctx, p.ID)
	if err == nil && answer.Status == ports.ProviderUnknown {
		answer.Status = ports.ProviderClosed
	}
	return answer, err
}

// postpone leaves the payment processing and stores the attempts, the time of the next question, and the reference and
// failure from the provider's answer.
func (s *Service) postpone(ctx context.Context, p deposit.Payment, answer ports.ProviderPayment, attempts int, next time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		current, err := stillInFlight(ctx, repos, p)
		if err != nil || current == nil {
			return err
		}
		current.Attempts, current.CheckAt = attempts, next
		if answer.Ref != "" {
			current.ProviderRef = answer.Ref
		}
		if answer.Failure != "" {
			current.Failure = answer.Failure
		}
		return repos.Payments.Update(ctx, *current)
	})
}

// feeWait gives the time from question number attempts to the next: 30 s, doubled each time up to 5 min. The longest wait
// bounds how late a deposit is secured whose tenant paid and closed the browser.
func feeWait(attempts int) time.Duration {
	const first, longest = 30 * time.Second, 5 * time.Minute
	if attempts > 3 {
		return longest
	}
	return min(first<<attempts, longest)
}
