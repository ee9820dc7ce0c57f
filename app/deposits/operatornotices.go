package deposits

import (
	"cmp"
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

const (
	// The UTC hour from which operators are mailed about covers that end: morning in Europe.
	coverHour = 6
	// Each scan for covers that end soon reads every account's open deposits.
	coversEvery = 15 * time.Minute
)

// OperatorNoticeMailer mails operators about events of their deposits.
type OperatorNoticeMailer struct {
	Notices      depositports.OperatorNoticeStore
	Mails        ports.MailQueue
	UnitOfWork   ports.UnitOfWork
	Clock        ports.Clock
	Entropy      ports.Entropy
	Addresses    partnerports.ErasedClientAddressStore
	Imprint      agreement.Imprint
	DashboardURL string // The setting DASHBOARD_BASE_URL.
	// VerifyAddresses reports whether only operators with a verified address are mailed.
	VerifyAddresses bool
}

// ScheduledJobs returns the jobs that mail notices to operators; a failure delays no other.
func (n OperatorNoticeMailer) ScheduledJobs(every time.Duration) []schedules.Job {
	return []schedules.Job{
		{Name: "secured-mails", Every: every, Run: func(ctx context.Context) (bool, error) {
			due, err := n.Notices.DueSecuredNotices(ctx, schedules.NoticeBatchSize)
			return schedules.NotifyEach(ctx, due, err, n.tellSecured)
		}},
		{Name: "cover-mails", Every: max(every, coversEvery), Soon: true, Run: func(ctx context.Context) (bool, error) {
			round, tells := coverRound(n.Clock.Now(), n.VerifyAddresses)
			if !tells {
				return false, nil
			}
			due, err := n.Notices.AccountsWithEndingCovers(ctx, round, schedules.NoticeBatchSize)
			return schedules.NotifyEach(ctx, due, err,
				func(ctx context.Context, accountID id.ID) error { return n.tellCovers(ctx, accountID, round) })
		}},
	}
}

// coverRound returns the parameters of a scan for covers that end soon; tells is false before coverHour.
func coverRound(now time.Time, verifyAddresses bool) (round depositports.EndingCoverQuery, tells bool) {
	now = now.UTC()
	if now.Hour() < coverHour {
		return round, false
	}
	round = depositports.EndingCoverQuery{
		Now: now, Before: now.Add(deposit.CoverEndingSoonPeriod), Today: now.Truncate(24 * time.Hour),
		VerifyAddresses: verifyAddresses,
	}
	return round, true
}

// tellSecured mails that a deposit is secured to the tenant, and to an operator with a verified address.
func (n OperatorNoticeMailer) tellSecured(ctx context.Context, depositID id.ID) error {
	// The sealed address of a client who was erased after the payment.
	erased, err := n.Addresses.ErasedClientAddress(ctx, depositID)
	if err != nil && !errors.Is(err, tenant.ErrNotFound) {
		return err
	}
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		about, ok, err := n.Notices.TakeSecuredNotice(ctx, depositID)
		if err != nil || !ok {
			return err
		}
		tenantMail, tellsOperator := decideSecured(about, erased.Email, n.VerifyAddresses)
		if err := n.tellFee(ctx, about, tenantMail); err != nil || !tellsOperator {
			return err
		}
		told := mails.DepositSecured{Operator: about.Operator, Deposit: about.Deposit, DashboardURL: n.DashboardURL}
		return n.Mails.Enqueue(ctx, told.Mail(n.Entropy.NewID(), n.Clock.Now()))
	})
}

// decideSecured returns the address of the tenant to confirm the fee to, "" for none, and whether the operator is
// mailed. A simulated payment has no agreement, so no tenant is mailed.
func decideSecured(about depositports.SecuredMailData, sealed string,
	verifyAddresses bool) (tenantMail string, tellsOperator bool) {
	if about.Words != "" {
		tenantMail = cmp.Or(about.Tenant.Email, sealed)
	}
	return tenantMail, about.Verified || !verifyAddresses
}

// tellFee mails a confirmation of the paid fee; with to "" no mail is sent.
func (n OperatorNoticeMailer) tellFee(ctx context.Context, about depositports.SecuredMailData, to string) error {
	if to == "" {
		return nil
	}
	paid := mails.FeePaid{
		To: to, Locale: about.Tenant.Locale, Deposit: about.Deposit, Company: about.Company,
		Fee: about.Fee, PaidAt: about.PaidAt, Words: about.Words, Imprint: n.Imprint,
	}
	return n.Mails.Enqueue(ctx, paid.Mail(n.Entropy.NewID(), n.Clock.Now()))
}

func (n OperatorNoticeMailer) tellCovers(ctx context.Context, accountID id.ID,
	round depositports.EndingCoverQuery) error {
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		about, ok, err := n.Notices.TakeEndingCovers(ctx, accountID, round, mails.MaxListedCovers)
		if err != nil || !ok {
			return err
		}
		told := mails.CoversEnding{EndingCoversMailData: about, DashboardURL: n.DashboardURL}
		return n.Mails.Enqueue(ctx, told.Mail(n.Entropy.NewID(), round.Now))
	})
}
