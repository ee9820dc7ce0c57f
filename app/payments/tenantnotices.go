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

// TenantNotices mails tenants about the charge of a captured amount, and about refunds.
type TenantNotices struct {
	Notices      paymentports.TenantNotices
	UnitOfWork   ports.UnitOfWork
	Deposits     depositports.Deposits
	Operators    accountports.Operators
	Collections  paymentports.Collections
	Refunds      paymentports.Refunds
	Mails        ports.Mails
	Payments     paymentports.Payments
	Agreements   depositports.Agreements
	Clock        ports.Clock
	Entropy      ports.Entropy
	Log          *slog.Logger
	DashboardURL string // The setting DASHBOARD_BASE_URL: the base URL of the checkout pages.
	SupportEmail string // The setting SUPPORT_EMAIL; with "" a mail names the operator's company instead.
}

// Job returns the scheduled job that mails the notices to tenants. A notice that fails is retried in the next
// round and delays no other.
func (n TenantNotices) Job(every time.Duration) schedules.Job {
	return schedules.Job{Name: "tenant-mails", Every: every, Waits: func(w ports.Waiting) bool { return w.TenantNotices },
		Run: func(ctx context.Context) (bool, error) {
			due, err := n.Notices.TenantNoticesDue(ctx, schedules.NoticeBatch)
			return schedules.Each(ctx, due, err, n.tell)
		}}
}

// tell queues the mail of a notice to a tenant. A tenant whose record was erased gets none.
func (n TenantNotices) tell(ctx context.Context, notice paymentports.TenantNotice) error {
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

// about reads the content of the mail for a notice.
func (n TenantNotices) about(ctx context.Context, notice paymentports.TenantNotice) (mails.TenantMoney, error) {
	var m mails.TenantMoney
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
	m = mails.MoneyOf(d, agreement.LocaleOf(agreed), notice.Kind, account, n.SupportEmail)
	switch notice.Kind {
	case paymentports.TenantCaptured:
		return n.withClaim(ctx, m)
	case paymentports.TenantAwaited:
		tokens, err := n.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
		if err != nil {
			return m, err
		}
		m.URL = site.CheckoutURL(n.DashboardURL, tokens[d.ID].Reveal())
	case paymentports.TenantRefunded:
		return n.withRefund(ctx, m, notice.SubjectID)
	case paymentports.TenantDebtEnded:
		debts, err := n.Collections.Debts(ctx, []id.ID{d.ID})
		m.Settled = debts[d.ID].Failure == string(deposit.SettledElsewhere)
		return m, err
	case paymentports.TenantPaid:
	}
	return m, nil
}

// withClaim adds to a mail the words of the capture, and the time at which the card is charged.
func (n TenantNotices) withClaim(ctx context.Context, m mails.TenantMoney) (mails.TenantMoney, error) {
	steps, err := n.Deposits.History(ctx, m.Deposit.ID)
	if err != nil {
		return m, err
	}
	debts, err := n.Collections.Debts(ctx, []id.ID{m.Deposit.ID})
	return claimed(m, steps, debts[m.Deposit.ID]), err
}

// claimed adds to the mail m the words of the capture among steps, and the time of the first charge if none
// was made yet.
func claimed(m mails.TenantMoney, steps []deposit.Transition, debt deposit.Debt) mails.TenantMoney {
	m.Reason, m.Words = deposit.CaptureWords(steps)
	if debt.Attempt == 0 {
		m.ChargedAt = debt.NextAttemptAt
	}
	return m
}

// withRefund adds to a mail the refunded amount, and whether the fee or a captured amount is refunded.
func (n TenantNotices) withRefund(ctx context.Context, m mails.TenantMoney, refundID id.ID) (mails.TenantMoney, error) {
	refunds, err := n.Refunds.Refunds(ctx, m.Deposit.ID)
	if err != nil {
		return m, err
	}
	payments, err := n.Payments.Payments(ctx, m.Deposit.ID)
	return refunded(m, refunds, payments, refundID), err
}

// refunded adds to the mail m the amount of a refund, and whether its payment is the fee.
func refunded(
	m mails.TenantMoney, refunds []deposit.Refund, payments []deposit.Payment, refundID id.ID,
) mails.TenantMoney {
	for _, r := range refunds {
		for _, p := range payments {
			if r.ID == refundID && p.ID == r.PaymentID {
				m.Amount, m.Fee = r.Amount, p.Kind == deposit.FeePayment
			}
		}
	}
	return m
}
