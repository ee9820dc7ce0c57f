package callbacks

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

// keep stores a dispute and mails the operator about a new status; the collection of the disputed debt stays.
func (s *Service) keep(ctx context.Context, d paymentports.Dispute, now time.Time) error {
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		before, about, ok, err := s.deps.Disputes.Store(ctx, d, now)
		if err != nil || !ok {
			return err
		}
		was, changed, tells := decideDispute(before, d, about.Verified || !s.deps.VerifyAddresses)
		if !changed {
			return nil
		}
		subject, detail := id.Deposit.Of(about.Deposit.ID), map[string]string{
			"dispute": d.Ref, "payment": id.Payment.Of(d.PaymentID), "kind": about.Kind, "amount": d.Amount.String(),
			"reason": d.Reason, "status": d.Status, "before": was,
		}
		entry := audit.NewEntry(s.deps.Entropy, now, actor.Clock, audit.PaymentDispute, subject, detail)
		if err := s.deps.Audit.Append(ctx, entry); err != nil || !tells {
			return err
		}
		told := mails.DisputeNotice{Operator: about.Operator, Deposit: about.Deposit, Dispute: d, New: before == nil,
			DashboardURL: s.deps.DashboardURL}
		return s.deps.Mails.Enqueue(ctx, told.Mail(s.deps.Entropy.NewID(), now))
	})
	if err == nil {
		failpoint.Hit("payment.dispute.committed")
	}
	return err
}

// decideDispute returns a dispute's earlier status ("" for a new one), whether it changed, and whether the operator
// is mailed: if the status changed and mayTell allows it.
func decideDispute(before *paymentports.StoredDispute, d paymentports.Dispute,
	mayTell bool) (was string, changed, tells bool) {
	changed = true
	if before != nil {
		was = before.Status
		changed = was != d.Status || before.Amount != d.Amount || !before.EvidenceDueBy.Equal(d.EvidenceDueBy)
	}
	return was, changed, mayTell && was != d.Status
}
