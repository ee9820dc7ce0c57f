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
	// unknownGrace is how long a payment may be unknown to the provider before the payment is closed: the request that
	// opens the page may still be on its way. Requests of this service end well before that.
	unknownGrace = 2 * time.Minute
	// workers is how many payments are asked about at a time: 5,000 of them, with a second each, take less than four
	// minutes.
	workers = 24
)

// CheckDue asks the provider about payments left in processing: the tenant never came back, the process crashed, or
// the provider could not be reached. CheckDue also collects captured amounts, and refunds. It gives how many payments
// were settled.
//
// While the provider is away, CheckDue takes up a single payment in restTime, and the others stay due. A payment that
// was taken up in vain is due again after a minute.
func (s *Service) CheckDue(ctx context.Context) (settled int, err error) {
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

// sweep works through what is due, batch by batch. describe gives the log's words for an item in trouble.
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
		// Each payment has a time of its own, since a batch may take minutes: an entry of the audit log must commit within
		// a minute of its time, or `admin audit export` misses it (operations.md, "Admin CLI").
		parallel.EachOf(workers, due, func(item T) (bool, error) { return work(ctx, item, s.deps.Clock.Now()) },
			func(item T, done bool, err error) {
				switch {
				case err == nil:
				case errors.Is(err, fault.ErrUnavailable): // the guard tells of the outage, once
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

// check asks about one payment and records the answer, or the time of the next question. The page of a fee is closed
// once the tenant can no longer secure the deposit: nextFeeCheck makes the payment due at the end of the stay.
func (s *Service) check(ctx context.Context, p deposit.Payment, now time.Time) (settled bool, err error) {
	if p.Kind == deposit.Collection {
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
		s.deps.PaymentMetrics.Answered(p.Kind, paymentports.PaymentUnavailable, p.Amount)
		return false, err
	}
	if undecided(answer.Status) {
		return false, s.postpone(ctx, p, answer, p.Attempts+1, nextFeeCheck(d, p.Attempts+1, now))
	}
	err = s.recordFee(ctx, p, answer, now)
	return err == nil, err
}

// lookUpFee gives the provider's answer about a fee. An unknown payment is closed after unknownGrace, so that a page
// that opens even later cannot be paid.
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

// neverArrived reports whether the provider does not know a payment whose request can no longer be on its way.
func neverArrived(status paymentports.ProviderStatus, age time.Duration) bool {
	return status == paymentports.ProviderUnknown && age >= unknownGrace
}

// closedFor is the status after a close: a payment that the provider does not know can never be paid afterwards.
func closedFor(status paymentports.ProviderStatus) paymentports.ProviderStatus {
	if status == paymentports.ProviderUnknown {
		return paymentports.ProviderClosed
	}
	return status
}

// postpone leaves the payment processing and stores when the provider is asked again.
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

// postponed gives the payment with the attempts, the time of the next question, and what the answer tells.
func postponed(p deposit.Payment, answer paymentports.ProviderPayment, attempts int, next time.Time) deposit.Payment {
	p.Attempts, p.CheckAt = attempts, next
	p.ProviderRef, p.Failure = cmp.Or(answer.Ref, p.ProviderRef), cmp.Or(answer.Failure, p.Failure)
	return p
}

// Job gives the job that asks the provider about payments left in processing.
func (s *Service) Job(every time.Duration) schedules.Job {
	return schedules.Job{Name: "payments", Every: every,
		Waits: func(w ports.Waiting) bool { return w.Payments || w.Refunds },
		Run: func(ctx context.Context) (bool, error) {
			_, err := s.CheckDue(ctx)
			return false, err
		}}
}
