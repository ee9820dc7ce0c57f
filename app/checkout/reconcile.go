package checkout

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

const (
	// unknownGrace is how long a payment that the provider never heard of may still be on its way there. It is well
	// above the time in which a request of ours ends.
	unknownGrace = 2 * time.Minute
	// providerPatience bounds one question to the provider.
	providerPatience = 20 * time.Second
	// collectTries is how many refusals of the card end a collection; with collectPace it takes about five days.
	collectTries = 10
	// outagePace is how often a collection is tried while the provider cannot be reached.
	outagePace = 5 * time.Minute
	// actor is how the audit log names this package's own deeds.
	actor = "dispatcher"
)

// ReconcilePayments asks the provider about payments left in processing: the tenant never came back, the process
// crashed, the provider was away. It also collects captured amounts. Gives how many payments it settled.
func (s *Service) ReconcilePayments(ctx context.Context) (int, error) {
	now := s.deps.Clock.Now()
	var settled atomic.Int64
	for ctx.Err() == nil {
		due, err := s.deps.Payments.PaymentsToCheck(ctx, now, batch)
		if err != nil {
			return int(settled.Load()), err
		}
		inParallel(due, func(p deposit.Payment) {
			done, err := guarded(func() (bool, error) { return s.reconcile(ctx, p, now) })
			if err != nil {
				s.deps.Log.ErrorContext(ctx, "payment not reconciled", "payment", id.Payment.Of(p.ID), "kind", string(p.Kind), "attempt", p.Attempts+1, "error", err)
			}
			if done {
				settled.Add(1)
			}
		})
		if len(due) < batch {
			break
		}
	}
	return int(settled.Load()), ctx.Err()
}

// reconcile asks about one payment and records the answer, or when to ask next.
func (s *Service) reconcile(ctx context.Context, p deposit.Payment, now time.Time) (settled bool, err error) {
	answer, err := s.ask(ctx, p, now)
	switch {
	case err != nil && p.Kind == deposit.Collection: // nobody refused anything, so it does not count
		return false, errors.Join(err, s.askLater(ctx, p, answer, p.Attempts, now.Add(outagePace)))
	case err != nil || answer.Status == ports.ProviderOpen || answer.Status == ports.ProviderUnknown:
		return false, errors.Join(err, s.askLater(ctx, p, answer, p.Attempts+1, now.Add(pace(p.Kind, p.Attempts+1))))
	case p.Kind == deposit.FeePayment:
		err = s.record(ctx, p, answer, now)
	case answer.Status == ports.ProviderSucceeded:
		err = s.recordCollection(ctx, p, answer, now)
	case p.Attempts+1 < collectTries: // the card said no; it may say yes on another day
		return false, s.askLater(ctx, p, answer, p.Attempts+1, now.Add(collectPace(p.Attempts+1)))
	default:
		err = s.recordCollection(ctx, p, answer, now)
	}
	return err == nil, err
}

// ask gives the provider's word on a payment. Unknown means: not yet, perhaps.
func (s *Service) ask(ctx context.Context, p deposit.Payment, now time.Time) (ports.ProviderPayment, error) {
	ctx, cancel := context.WithTimeout(ctx, providerPatience)
	defer cancel()
	if p.Kind == deposit.Collection {
		return s.collect(ctx, p)
	}
	answer, err := s.deps.Provider.Lookup(ctx, p.ID)
	if err != nil || answer.Status != ports.ProviderUnknown || now.Sub(p.CreatedAt) < unknownGrace {
		return answer, err
	}
	// The request never got there, or is lost on the way. Closing makes sure that it cannot be paid if it still arrives.
	answer, err = s.deps.Provider.Close(ctx, p.ID)
	if err == nil && answer.Status == ports.ProviderUnknown {
		answer.Status = ports.ProviderClosed
	}
	return answer, err
}

// collect charges the card that paid the fee.
func (s *Service) collect(ctx context.Context, p deposit.Payment) (ports.ProviderPayment, error) {
	d, err := s.deps.Deposits.Deposit(ctx, p.DepositID)
	if err != nil {
		return ports.ProviderPayment{}, err
	}
	fee, err := s.paidFee(ctx, p.DepositID)
	if err != nil {
		return ports.ProviderPayment{}, err
	}
	if fee.IsZero() {
		return ports.ProviderPayment{Status: ports.ProviderFailed, Failure: "no card to charge: no fee was paid"}, nil
	}
	return s.deps.Provider.Collect(ctx, ports.CollectRequest{PaymentID: p.ID, FeePaymentID: fee, Amount: p.Amount, Description: d.Reference})
}

// paidFee gives the payment through which the card was taken; zero where there is none.
func (s *Service) paidFee(ctx context.Context, depositID id.ID) (id.ID, error) {
	all, err := s.deps.Payments.Payments(ctx, depositID)
	if err != nil {
		return id.ID{}, err
	}
	for _, p := range all {
		if p.Kind == deposit.FeePayment && p.Status == deposit.PaymentSucceeded {
			return p.ID, nil
		}
	}
	return id.ID{}, nil
}

// askLater keeps the payment as it is until the next question.
func (s *Service) askLater(ctx context.Context, p deposit.Payment, answer ports.ProviderPayment, attempts int, next time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		current, err := repos.Payments.UnderWay(ctx, p.DepositID, p.Kind)
		if err != nil || current == nil || current.ID != p.ID {
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

// recordCollection ends a collection. One that is given up stays in the books as failed, with the provider's reason,
// and in the audit log for the operator; the deposit stays captured, since the guarantee does not hang on the tenant.
func (s *Service) recordCollection(ctx context.Context, p deposit.Payment, answer ports.ProviderPayment, now time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		current, err := repos.Payments.UnderWay(ctx, p.DepositID, deposit.Collection)
		if err != nil || current == nil || current.ID != p.ID {
			return err
		}
		current.Attempts++
		settle(current, answer, now)
		if err := repos.Payments.Update(ctx, *current); err != nil || current.Status == deposit.PaymentSucceeded {
			return err
		}
		return repos.Audit.Append(ctx, ports.AuditEntry{
			ID: s.deps.Entropy.NewID(), At: now, Actor: actor, Action: "payment.collection_failed", Subject: id.Deposit.Of(p.DepositID),
			Detail: map[string]string{
				"payment": id.Payment.Of(p.ID), "amountCents": cents(p.Amount), "failure": current.Failure, "attempts": strconv.Itoa(current.Attempts),
			},
		})
	})
}

// pace tells how long to wait after the attempts-th question.
func pace(kind deposit.PaymentKind, attempts int) time.Duration {
	if kind == deposit.Collection {
		return collectPace(attempts)
	}
	return feePace(attempts)
}

// feePace doubles from half a minute to five: a tenant who paid and closed the browser waits no longer than that.
func feePace(attempts int) time.Duration {
	const first, last = 30 * time.Second, 5 * time.Minute
	if attempts > 3 {
		return last
	}
	return min(first<<attempts, last)
}

// collectPaces spread the tries of a collection over days, as a card that is empty today may not be tomorrow.
var collectPaces = []time.Duration{
	time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

func collectPace(attempts int) time.Duration {
	return collectPaces[max(0, min(attempts, len(collectPaces))-1)]
}

func cents(c money.Cents) string { return strconv.FormatInt(int64(c), 10) }
