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
	ports "partnerdeposits/ports/platform"
)

const (
	// unknownGrace is the age from which a payment that the provider does not have is closed: until then, the
	// request that opens its page may still be on its way to the provider.
	unknownGrace = 2 * time.Minute
	// workers is the number of payments about which the provider is queried at a time: 5,000 payments of a
	// second each take less than four minutes.
	workers = 24
)

// CheckDuePayments queries the provider about payments left in processing: the tenant never came back, the process
// crashed, or the provider could not be reached. CheckDuePayments also collects captured amounts, and refunds. It
// returns the number of settled payments.
//
// While the provider is unreachable, CheckDuePayments checks a single payment in each restTime, and the others stay
// due. A payment whose check failed is due again after a minute.
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

// sweep works through the payments or refunds that are due for a check, batch by batch. describe returns the log
// attributes of an item whose check failed.
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
		// Each payment gets a time of its own, since a batch may take minutes: an entry of the audit log must
		// commit within a minute of its time, or `admin audit export` misses it (operations.md, "Admin CLI").
		parallel.EachWithLimit(workers, due, func(item T) (bool, error) { return work(ctx, item, s.deps.Clock.Now()) },
			func(item T, done bool, err error) {
				switch {
				case err == nil:
				// An unreachable provider is not logged here: the guard of the calls to the provider logs each outage
				// once.
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

// check queries the provider about one payment and records the result, or the time of the next check. The page of
// a fee is closed once the tenant can no longer secure the deposit; a check is due at the end of the stay.
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

// lookUpFee returns the provider's response about a fee payment. A payment that the provider does not have is
// closed after unknownGrace, so that its page cannot be paid even if it opens later.
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

// neverArrived reports whether the provider does not have a payment whose request can no longer be on its
// way: true for an unknown payment older than unknownGrace, else false.
func neverArrived(status paymentports.ProviderPaymentStatus, age time.Duration) bool {
	return status == paymentports.ProviderPaymentUnknown && age >= unknownGrace
}

// closedFor returns the provider's status of a payment after its page was closed: a payment that the provider
// does not have counts as closed, since it can never be paid.
func closedFor(status paymentports.ProviderPaymentStatus) paymentports.ProviderPaymentStatus {
	if status == paymentports.ProviderPaymentUnknown {
		return paymentports.ProviderPaymentClosed
	}
	return status
}

// postpone keeps the payment in processing and stores when the provider is queried again.
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

// postponed returns a copy of the payment with one more attempt, the time of the next check, and the provider's
// reference and failure text.
func postponed(p deposit.Payment, answer paymentports.ProviderPayment, attempts int, next time.Time) deposit.Payment {
	p.Attempts, p.CheckAt = attempts, next
	p.ProviderRef, p.Failure = cmp.Or(answer.Ref, p.ProviderRef), cmp.Or(answer.Failure, p.Failure)
	return p
}

// PaymentChecksJob returns the scheduled job that queries the provider about payments left in processing.
func (s *Service) PaymentChecksJob(every time.Duration) schedules.Job {
	return schedules.Job{Name: "payments", Every: every,
		Waits: func(w ports.WaitingWorkFlags) bool { return w.Payments || w.Refunds },
		Run: func(ctx context.Context) (bool, error) {
			_, err := s.CheckDuePayments(ctx)
			return false, err
		}}
}
