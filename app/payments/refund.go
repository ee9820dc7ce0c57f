package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
)

// RecheckEndedPayment queries the provider about a payment that ended without success. If it was paid all the same,
// it is refunded and paid is true.
//
// Returns deposit.ErrNoCollection for an unknown payment, or service_unavailable.
func (s *Service) RecheckEndedPayment(ctx context.Context, paymentID id.ID) (paid bool, err error) {
	answer, err := s.provider.lookup(ctx, paymentID)
	if err != nil || answer.Status != paymentports.ProviderPaymentSucceeded {
		return false, err
	}
	now := s.deps.Clock.Now()
	var p deposit.Payment
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		paid = false
		var earlier []deposit.Refund
		p, earlier, err = s.deps.Refunds.LockPayment(ctx, paymentID)
		if err != nil || !endedUnpaid(p, earlier) {
			return err
		}
		d, err := s.deps.Deposits.LockRow(ctx, p.DepositID)
		if err != nil {
			return err
		}
		paid = true
		if err := s.refundOrphan(ctx, p, now); err != nil {
			return err
		}
		return s.keepOrphan(ctx, d, p, now)
	})
	if err == nil && paid {
		s.warnOrphan(ctx, p)
	}
	return paid, err
}

// endedUnpaid reports whether a payment ended without success and is not being refunded.
func endedUnpaid(p deposit.Payment, refunds []deposit.Refund) bool {
	return p.Status != deposit.PaymentProcessing && p.Status != deposit.PaymentSucceeded && len(refunds) == 0
}

// checkRefund requests a refund from the provider or queries it, and records the result.
func (s *Service) checkRefund(ctx context.Context, r deposit.Refund, now time.Time) (settled bool, err error) {
	failpoint.Hit("payment.refund.committed")
	answer, err := s.provider.refund(ctx,
		paymentports.RefundRequest{RefundID: r.ID, PaymentID: r.PaymentID, DepositID: r.DepositID, Amount: r.Amount})
	if err != nil {
		s.deps.PaymentMetrics.CountRefundResult(paymentports.PaymentUnavailable, r.Amount)
		return false, err
	}
	r = decideRefund(r, answer, now)
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		ok, err := s.deps.Refunds.Settle(ctx, r)
		if settled = ok && r.Status != deposit.RefundPending; err != nil || !settled {
			return err
		}
		if r.Status == deposit.RefundSucceeded {
			return s.deps.TenantNotices.Add(ctx,
				paymentports.TenantMailNotice{SubjectID: r.ID, Kind: paymentports.TenantNoticeRefunded, DepositID: r.DepositID,
					At: now})
		}
		return s.deps.Audit.Append(ctx, s.refundEntry(audit.PaymentRefundFailed, actor.Clock, r, now))
	})
	if err != nil || !settled {
		return false, err
	}
	if r.Status == deposit.RefundFailed {
		s.deps.PaymentMetrics.CountRefundResult(paymentports.PaymentRefused, r.Amount)
		s.deps.Log.ErrorContext(ctx, "a refund failed: the tenant has to be paid by other means",
			"refund", id.Refund.Of(r.ID), "payment", id.Payment.Of(r.PaymentID), "failure", r.Failure)
		return true, nil
	}
	s.deps.PaymentMetrics.CountRefundResult(paymentports.PaymentSucceeded, r.Amount)
	return true, nil
}

// decideRefund returns the refund after the provider's response; the wait for another check is as long as it has
// been pending.
func decideRefund(r deposit.Refund, answer paymentports.ProviderRefund, now time.Time) deposit.Refund {
	r.Status, r.ProviderRef, r.Failure = deposit.RefundStatus(answer.Status), answer.Ref, answer.Failure
	if r.Status == deposit.RefundPending {
		r.CheckAt = now.Add(min(max(now.Sub(r.CreatedAt), openWait), time.Hour))
	} else {
		r.SettledAt = now
	}
	return r
}

func (s *Service) refundEntry(verb audit.Action, by actor.Actor, r deposit.Refund, now time.Time) ports.AuditEntry {
	detail := map[string]string{"refund": id.Refund.Of(r.ID), "payment": id.Payment.Of(r.PaymentID),
		"amountCents": cents(r.Amount), "reason": string(r.Reason)}
	if r.Failure != "" {
		detail["failure"] = r.Failure
	}
	return audit.NewEntry(s.deps.Entropy, now, by, verb, id.Deposit.Of(r.DepositID), detail)
}

// RefundByStaff refunds a part of a payment, or the rest if amount is zero. Where the provider cannot be reached,
// the dispatcher completes the refund.
//
// Returns deposit.ErrNoCollection, ErrPaymentNotRefundable, ErrRefundExceedsPayment, and invalid_field.
func (s *Service) RefundByStaff(ctx context.Context, paymentID id.ID,
	amount money.Cents) (r deposit.Refund, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		p, earlier, err := s.deps.Refunds.LockPayment(ctx, paymentID)
		if err != nil {
			return err
		}
		rest, err := deposit.RefundableAmount(p, earlier, amount)
		if err != nil {
			return err
		}
		r = deposit.Refund{
			ID: s.deps.Entropy.NewID(), PaymentID: p.ID, DepositID: p.DepositID, Amount: rest,
			Reason: deposit.RefundReasonWrongCharge,
			Status: deposit.RefundPending,
			Actor:  actor.Staff, CreatedAt: now, CheckAt: now,
		}
		entry := s.refundEntry(audit.CollectionRefund, actor.Staff, r, now)
		return errors.Join(s.deps.Refunds.Insert(ctx, r), s.deps.Audit.Append(ctx, entry))
	})
	if err != nil {
		return r, err
	}
	if _, err := s.checkRefund(ctx, r, now); err != nil {
		s.deps.Log.InfoContext(ctx, "refund left to the dispatcher", "refund", id.Refund.Of(r.ID), "error", err)
	}
	all, err := s.deps.Refunds.Refunds(ctx, r.DepositID)
	for _, one := range all {
		if one.ID == r.ID {
			r = one
		}
	}
	return r, err
}
