package payments

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// keepOrphan stores a settled payment without effect and refunds it, such as a fee paid after the stay.
func (s *Service) keepOrphan(ctx context.Context, d *deposit.Deposit, p deposit.Payment, now time.Time) error {
	if err := s.deps.Payments.Update(ctx, p); err != nil {
		return err
	}
	if p.Status == deposit.PaymentSucceeded {
		if err := s.refundOrphan(ctx, p, now); err != nil {
			return err
		}
	}
	subject, detail := id.Deposit.Of(d.ID), map[string]string{
		"payment": id.Payment.Of(p.ID), "kind": string(p.Kind), "status": string(p.Status), "deposit": string(d.Status),
		"amountCents": cents(p.Amount),
	}
	entry := audit.NewEntry(s.deps.Entropy, now, actor.Clock, audit.PaymentOrphaned, subject, detail)
	return s.deps.Audit.Append(ctx, entry)
}

func (s *Service) refundOrphan(ctx context.Context, p deposit.Payment, now time.Time) error {
	return s.deps.Refunds.Insert(ctx, deposit.Refund{
		ID: s.deps.Entropy.NewID(), PaymentID: p.ID, DepositID: p.DepositID, Amount: p.Amount,
		Reason: deposit.RefundReasonOrphanedPayment,
		Status: deposit.RefundPending,
		Actor:  actor.Clock, CreatedAt: now, CheckAt: now,
	})
}

func (s *Service) warnOrphan(ctx context.Context, p deposit.Payment) {
	s.deps.Log.WarnContext(ctx, "a payment came too late to have its effect; what was paid is refunded",
		"deposit", id.Deposit.Of(p.DepositID), "payment", id.Payment.Of(p.ID), "kind", string(p.Kind))
}
