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
	// coverHour is the hour of the day, in UTC, from which covers are told: morning in Europe.
	coverHour = 6
	// coversEvery is the time between two looks for covers that end. Each looks into the open deposits of every
	// account.
	coversEvery = 15 * time.Minute
)

// OperatorNotices mails operators what happened to their deposits.
type OperatorNotices struct {
	Notices      depositports.OperatorNotices
	Mails        ports.Mails
	UnitOfWork   ports.UnitOfWork
	Clock        ports.Clock
	Entropy      ports.Entropy
	Addresses    partnerports.SealedAddresses
	Imprint      agreement.Imprint
	DashboardURL string // DASHBOARD_BASE_URL
	// VerifyAddresses says that addresses are verified in this service: only operators with a verified address are
	// told.
	VerifyAddresses bool
}

// Jobs gives the jobs. A notice that fails is taken up again in the next round and delays no other.
func (n OperatorNotices) Jobs(every time.Duration) []schedules.Job {
	return []schedules.Job{
		{Name: "secured-mails", Every: every, Waits: func(w ports.Waiting) bool { return w.SecuredNotices },
			Run: func(ctx context.Context) (bool, error) {
				due, err := n.Notices.SecuredDue(ctx, schedules.NoticeBatch)
				return schedules.Each(ctx, due, err, n.tellSecured)
			}},
		{Name: "cover-mails", Every: max(every, coversEvery), Soon: true, Run: func(ctx context.Context) (bool, error) {
			round, tells := coverRound(n.Clock.Now(), n.VerifyAddresses)
			if !tells {
				return false, nil
			}
			due, err := n.Notices.CoversDue(ctx, round, schedules.NoticeBatch)
			return schedules.Each(ctx, due, err,
				func(ctx context.Context, accountID id.ID) error { return n.tellCovers(ctx, accountID, round) })
		}},
	}
}

// coverRound gives the look for covers at now; tells is false before the hour from which covers are told.
func coverRound(now time.Time, verifyAddresses bool) (round depositports.CoverRound, tells bool) {
	now = now.UTC()
	if now.Hour() < coverHour {
		return round, false
	}
	round = depositports.CoverRound{
		Now: now, Before: now.Add(deposit.EndingSoon), Today: now.Truncate(24 * time.Hour), VerifyAddresses: verifyAddresses,
	}
	return round, true
}

// tellSecured mails that a deposit is secured: to the tenant who paid, and to an operator whose address is verified.
func (n OperatorNotices) tellSecured(ctx context.Context, depositID id.ID) error {
	erased, err := n.Addresses.SealedAddress(ctx, depositID) // of a client who was erased since the payment
	if err != nil && !errors.Is(err, tenant.ErrNotFound) {
		return err
	}
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		about, ok, err := n.Notices.TakeSecured(ctx, depositID)
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

// decideSecured gives the address of the tenant who is told the fee, "" for none, and whether the operator is told.
// sealed is the address of a tenant who was erased since. A payment that was simulated has no agreement, and no tenant
// is told.
func decideSecured(about depositports.SecuredSubject, sealed string,
	verifyAddresses bool) (tenantMail string, tellsOperator bool) {
	if about.Words != "" {
		tenantMail = cmp.Or(about.Tenant.Email, sealed)
	}
	return tenantMail, about.Verified || !verifyAddresses
}

// tellFee mails the fee to the tenant; to "" nothing is mailed.
func (n OperatorNotices) tellFee(ctx context.Context, about depositports.SecuredSubject, to string) error {
	if to == "" {
		return nil
	}
	paid := mails.FeePaid{
		To: to, Locale: about.Tenant.Locale, Deposit: about.Deposit, Company: about.Company,
		Fee: about.Fee, PaidAt: about.PaidAt, Words: about.Words, Imprint: n.Imprint,
	}
	return n.Mails.Enqueue(ctx, paid.Mail(n.Entropy.NewID(), n.Clock.Now()))
}

func (n OperatorNotices) tellCovers(ctx context.Context, accountID id.ID, round depositports.CoverRound) error {
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		about, ok, err := n.Notices.TakeCovers(ctx, accountID, round, mails.MaxCovers)
		if err != nil || !ok {
			return err
		}
		told := mails.CoversEnding{CoverSubject: about, DashboardURL: n.DashboardURL}
		return n.Mails.Enqueue(ctx, told.Mail(n.Entropy.NewID(), round.Now))
	})
}
