package payments

import (
	"context"
	"log/slog"
	"time"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// TenantNoticeMailer mails tenants about charges of captured amounts, and refunds.
type TenantNoticeMailer struct {
	Notices      paymentports.TenantNoticeStore
	UnitOfWork   ports.UnitOfWork
	Deposits     depositports.DepositStore
	Operators    accountports.OperatorStore
	Collections  paymentports.CollectionStore
	Refunds      paymentports.RefundStore
	Mails        ports.MailQueue
	Payments     paymentports.PaymentStore
	Agreements   depositports.AgreementStore
	Clock        ports.Clock
	Entropy      ports.Entropy
	Log          *slog.Logger
	DashboardURL string // The setting DASHBOARD_BASE_URL.
	// The setting SUPPORT_EMAIL; with "" a mail names the operator's company instead.
	SupportEmail string
}

// ScheduledJob returns the job that mails notices to tenants; a failure delays no other.
func (n TenantNoticeMailer) ScheduledJob(every time.Duration) schedules.Job {
	return schedules.Job{Name: "tenant-mails", Every: every, Run: func(ctx context.Context) (bool, error) {
		due, err := n.Notices.TenantNoticesDue(ctx, schedules.NoticeBatchSize)
		return schedules.NotifyEach(ctx, due, err, n.tell)
	}}
}

// tell queues the mail of a notice to a tenant, unless the tenant was erased.
func (n TenantNoticeMailer) tell(ctx context.Context, notice paymentports.TenantMailNotice) error {
	about, err := n.about(ctx, notice)
	if err != nil {
		return err
	}
	now := n.Clock.Now()
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		ok, err := n.Notices.Take(ctx, notice)
		if err != nil || !ok {
			return err
		}
		if about.To == "" {
			n.Log.InfoContext(ctx, "a tenant without a record is told nothing", "deposit", id.Deposit.Of(notice.DepositID),
				"notice", string(notice.Kind))
			return nil
		}
		return n.Mails.Enqueue(ctx, about.Mail(n.Entropy.NewID(), now))
	})
}

// about reads from the database what the mail for a notice to a tenant contains.
func (n TenantNoticeMailer) about(ctx context.Context,
	notice paymentports.TenantMailNotice) (mails.ChargeOrRefundNotice,
	error) {
	var m mails.ChargeOrRefundNotice
	d, err := n.Deposits.Deposit(ctx, notice.DepositID)
	if err != nil || d.Client == nil {
		return m, err
	}
	agreed, err := n.Agreements.Agreements(ctx, d.ID)
	if err != nil {
		return m, err
	}
	account, _, err := n.Operators.AccountByID(ctx, d.AccountID)
	if err != nil {
		return m, err
	}
	m = mails.NewChargeOrRefundNotice(d, agreement.LatestLocale(agreed), notice.Kind, account, n.SupportEmail)
	switch notice.Kind {
	case paymentports.TenantNoticeCaptured:
		return n.withClaim(ctx, m)
	case paymentports.TenantNoticeCardRefused:
		tokens, err := n.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
		if err != nil {
			return m, err
		}
		m.URL = site.CheckoutURL(n.DashboardURL, tokens[d.ID].Reveal())
	case paymentports.TenantNoticeRefunded:
		return n.withRefund(ctx, m, notice.SubjectID)
	case paymentports.TenantNoticeDebtEnded:
		debts, err := n.Collections.Debts(ctx, []id.ID{d.ID})
		m.Settled = debts[d.ID].Failure == string(deposit.CollectionTriggerSettledElsewhere)
		return m, err
	case paymentports.TenantNoticePaid:
	}
	return m, nil
}

// withClaim adds to a mail the operator's words about the capture and the time of the charge.
func (n TenantNoticeMailer) withClaim(ctx context.Context, m mails.ChargeOrRefundNotice) (mails.ChargeOrRefundNotice,
	error) {
	steps, err := n.Deposits.History(ctx, m.Deposit.ID)
	if err != nil {
		return m, err
	}
	debts, err := n.Collections.Debts(ctx, []id.ID{m.Deposit.ID})
	return claimed(m, steps, debts[m.Deposit.ID]), err
}

// claimed adds to a mail the operator's words about the capture, from the deposit's history in steps, and the first
// charge's time if none was made yet.
func claimed(m mails.ChargeOrRefundNotice, steps []deposit.Transition, debt deposit.Debt) mails.ChargeOrRefundNotice {
	m.Reason, m.Words = deposit.CaptureDetails(steps)
	if debt.Attempt == 0 {
		m.ChargedAt = debt.NextAttemptAt
	}
	return m
}

// withRefund adds to a mail the refunded amount, and whether the fee is refunded.
func (n TenantNoticeMailer) withRefund(ctx context.Context, m mails.ChargeOrRefundNotice,
	refundID id.ID) (mails.ChargeOrRefundNotice, error) {
	refunds, err := n.Refunds.Refunds(ctx, m.Deposit.ID)
	if err != nil {
		return m, err
	}
	payments, err := n.Payments.Payments(ctx, m.Deposit.ID)
	return refunded(m, refunds, payments, refundID), err
}

// refunded adds to a mail the amount of a refund, and whether the fee is refunded.
func refunded(
	m mails.ChargeOrRefundNotice, refunds []deposit.Refund, payments []deposit.Payment, refundID id.ID,
) mails.ChargeOrRefundNotice {
	for _, r := range refunds {
		for _, p := range payments {
			if r.ID == refundID && p.ID == r.PaymentID {
				m.Amount, m.Fee = r.Amount, p.Kind == deposit.PaymentKindFee
			}
		}
	}
	return m
}
