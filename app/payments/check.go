package payments

import (
	"cmp"
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/parallel"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

const (
	// The age from which a payment that the provider does not have is closed: before, its request may be on its way.
	unknownGrace = 2 * time.Minute
	// The number of payments about which the provider is queried at a time: 5,000 payments of a second each take less
	// than four minutes.
	workers = 24
)

// CheckDuePayments queries the provider about payments left in processing, collects captured amounts, makes
// refunds, and returns the number of settled payments. While the provider is unreachable, it checks one payment in
// each restTime.
func (s *Service) CheckDuePayments(ctx context.Context) (settled int, err error) {
	settled, err = sweep(ctx, s, s.deps.Payments.PaymentsToCheck, s.check,
		func(p deposit.Payment) []any {
			return []any{"payment", id.Payment.Of(p.ID), "kind", string(p.Kind), "attempt", p.Attempts + 1}
		})
	if err != nil {
		return settled, err
	}
	refunded, err := sweep(ctx, s, s.deps.Refunds.RefundsToCheck, s.checkRefund,
		func(r deposit.Refund) []any {
			return []any{"refund", id.Refund.Of(r.ID), "payment", id.Payment.Of(r.PaymentID)}
		})
	return settled + refunded, err
}

// sweep checks due payments or refunds, batch by batch. describe returns an item's log attributes.
func sweep[T any](ctx context.Context, s *Service, take func(context.Context, time.Time, int) ([]T, error),
	work func(context.Context, T, time.Time) (bool, error), describe func(T) []any,
) (settled int, err error) {
	for ctx.Err() == nil {
		limit := s.provider.ready()
		if limit == 0 {
			return settled, nil
		}
		due, err := take(ctx, s.deps.Clock.Now(), limit)
		if err != nil {
			return settled, err
		}
		// Each payment gets its own time: a batch may take minutes, and an audit entry must commit within a minute of its
		// time, or `admin audit export` misses it (operations.md, "Admin CLI").
		parallel.EachWithLimit(workers, due, func(item T) (bool, error) { return work(ctx, item, s.deps.Clock.Now()) },
			func(item T, done bool, err error) {
				switch {
				case err == nil:
				// The guard of the calls logs each outage of the provider once.
				case errors.Is(err, fault.ErrUnavailable):
					s.deps.Log.InfoContext(ctx, "payment left for later", append(describe(item), "error", err)...)
				default:
					s.deps.Log.ErrorContext(ctx, "payment not reconciled", append(describe(item), "error", err)...)
				}
				if done {
					settled++
				}
			})
		if len(due) < limit {
			break
		}
	}
	return settled, ctx.Err()
}

// check queries the provider about a payment and records the result or the next check. A fee's page is closed once
// the deposit can no longer be secured.
func (s *Service) check(ctx context.Context, p deposit.Payment, now time.Time) (settled bool, err error) {
	if p.Kind == deposit.PaymentKindCollection {
		return s.checkCollection(ctx, p, now)
	}
	d, err := s.deps.Deposits.Deposit(ctx, p.DepositID)
	if err != nil {
		return false, err
	}
	if !d.CheckoutOpen(now) {
		err := s.closeFee(ctx, p, now)
		return err == nil, err
	}
	answer, err := s.lookUpFee(ctx, p, now)
	if err != nil {
		s.deps.PaymentMetrics.CountResult(p.Kind, paymentports.PaymentUnavailable, p.Amount)
		return false, err
	}
	if undecided(answer.Status) {
		return false, s.postpone(ctx, p, answer, p.Attempts+1, nextFeeCheck(d, p.Attempts+1, now))
	}
	err = s.recordFee(ctx, p, answer, now)
	return err == nil, err
}

// lookUpFee returns the provider's response about a fee. An unknown payment is closed after unknownGrace, so that
// it cannot be paid later.
func (s *Service) lookUpFee(ctx context.Context, p deposit.Payment,
	now time.Time) (paymentports.ProviderPayment, error) {
	answer, err := s.provider.lookup(ctx, p.ID)
	if err != nil || !neverArrived(answer.Status, now.Sub(p.CreatedAt)) {
		return answer, err
	}
	answer, err = s.provider.close(ctx, p.ID)
	answer.Status = closedFor(answer.Status)
	return answer, err
}

// neverArrived reports whether a payment unknown to the provider is older than unknownGrace.
func neverArrived(status paymentports.ProviderPaymentStatus, age time.Duration) bool {
	return status == paymentports.ProviderPaymentUnknown && age >= unknownGrace
}

// closedFor returns a payment's status after its page was closed: an unknown payment counts as closed.
func closedFor(status paymentports.ProviderPaymentStatus) paymentports.ProviderPaymentStatus {
	if status == paymentports.ProviderPaymentUnknown {
		return paymentports.ProviderPaymentClosed
	}
	return status
}

// postpone keeps the payment in processing until the next query.
func (s *Service) postpone(ctx context.Context, p deposit.Payment, answer paymentports.ProviderPayment, attempts int,
	next time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		current, err := s.stillInFlight(ctx, p)
		if err != nil || current == nil {
			return err
		}
		return s.deps.Payments.Update(ctx, postponed(*current, answer, attempts, next))
	})
}

// postponed returns the payment with another attempt, the next check and the provider's reference and failure
// text.
func postponed(p deposit.Payment, answer paymentports.ProviderPayment, attempts int, next time.Time) deposit.Payment {
	p.Attempts, p.CheckAt = attempts, next
	p.ProviderRef, p.Failure = cmp.Or(answer.Ref, p.ProviderRef), cmp.Or(answer.Failure, p.Failure)
	return p
}

func (s *Service) PaymentChecksJob(every time.Duration) schedules.Job {
	return schedules.Job{Name: "payments", Every: every, Run: func(ctx context.Context) (bool, error) {
		_, err := s.CheckDuePayments(ctx)
		return false, err
	}}
}
