// Package deposits holds the acts of partners and operators on deposits, and mails operators about them. The
// operators' pages are read by app/deposits/desk, the tenant's steps are in app/deposits/checkout, and
// app/deposits/lifecycle records transitions.
package deposits

import (
	"context"
	"strings"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/site"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	Idempotent  *idempotent.Executor
	Journal     lifecycle.Journal
	Deposits    depositports.DepositStore
	Payments    PaymentService
	Collections paymentports.CollectionStore
	Clients     partnerports.ClientStore
	Links       accountports.PartnerLinkStore
	Mails       ports.MailQueue
	Audit       ports.AuditLog
	Metrics     depositports.DepositMetrics
	Clock       ports.Clock
	Entropy     ports.Entropy
	Timers      deposit.TimerDurations
	LeastCharge money.Cents // The smallest amount that the payment provider can charge.
	Operators   accountports.OperatorStore
	Files       depositports.FileStore
	Contents    depositports.FileContentStore
	Cleaner     depositports.FileSanitizer
	Drafts      depositports.FormDraftStore
	Agreements  depositports.AgreementStore
	// VerifyAddresses reports whether operators need a verified address for acts that charge or mail a tenant.
	VerifyAddresses bool
	Codes           TwoFactorCodes
	// The setting DASHBOARD_BASE_URL, the base of checkout URLs, without a slash at its end.
	DashboardURL string
	Imprint      agreement.Imprint
}

type PaymentService interface {
	// BeginCollection inserts the payment for a captured amount, in the transaction of the capture.
	BeginCollection(ctx context.Context, captured *deposit.Deposit, now time.Time) (deposit.Debt, error)
	// FirstChargeTime returns the time of the card charge for a capture now.
	FirstChargeTime(now time.Time) time.Time
	// LockFeeInFlight locks and returns a deposit's processing fee payment; nil for none. The caller holds a
	// transaction.
	LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error)
	// SettleFee closes the payment page at the provider, outside any transaction, and records the outcome. If the
	// tenant paid first, the deposit is active.
	SettleFee(ctx context.Context, depositID id.ID) error
	// RequestDebtEnd records, in a transaction, that an operator wants to end a collection.
	//
	// Returns deposit.ErrCollectionOver or deposit.ErrCollectionEnding.
	RequestDebtEnd(ctx context.Context, depositID id.ID, as deposit.CollectionTrigger, by actor.Actor, now time.Time) error
	// FinishDebtEnd closes the payment of a debt at the provider, outside any transaction. Where it cannot be reached,
	// the debt keeps being ended.
	FinishDebtEnd(ctx context.Context, depositID id.ID) (deposit.Debt, error)
	// RecordReminder records, in a transaction, that the tenant is reminded, or returns the errors of Debt.Remindable.
	RecordReminder(ctx context.Context, depositID id.ID, now time.Time) error
}

type TwoFactorCodes interface {
	Enabled(ctx context.Context, operatorID id.ID) (bool, error)
	LimitTries(ctx context.Context, o connect.Operator, from signin.Browser, now time.Time, use func() error) error
	// Accept uses up a two-factor code in the transaction of its act, or returns twofactor.ErrWrongCode.
	Accept(ctx context.Context, o connect.Operator, code string, now time.Time) (required bool, err error)
}

type Service struct{ deps Deps }

// New returns a service on deposits, whose base URL loses a slash at its end.
func New(deps Deps) *Service {
	deps.DashboardURL = strings.TrimRight(deps.DashboardURL, "/")
	return &Service{deps: deps}
}

// PartnerView is a deposit with values for responses to its partner.
type PartnerView struct {
	*deposit.Deposit
	// The checkout URL; "" unless the deposit was created with depositUrlGeneration.
	CheckoutURL    string
	CoversContract bool
	Debt           *deposit.Debt // The debt of the deposit; nil if there is none.
}

func (s *Service) view(d *deposit.Deposit, now time.Time) PartnerView {
	v := PartnerView{Deposit: d, CoversContract: d.CoversContract(s.deps.Timers, now)}
	if d.URLGeneration && d.CheckoutToken != "" {
		v.CheckoutURL = site.CheckoutURL(s.deps.DashboardURL, d.CheckoutToken.Reveal())
	}
	return v
}

// readable returns deposit_access_denied unless the deposit is the partner's own, or an operator made it while the
// partner was linked.
func readable(d *deposit.Deposit, partnerID id.ID) error {
	if d.PartnerID != partnerID {
		return deposit.ErrAccessDenied
	}
	return nil
}

// changeable returns deposit_not_found for nil, and deposit_access_denied for a deposit that the partner did not
// create (api.md §2).
func changeable(d *deposit.Deposit, partnerID id.ID) error {
	if d == nil {
		return deposit.ErrNotFound
	}
	if d.PartnerID != partnerID || !d.ByPartnerAPI {
		return deposit.ErrAccessDenied
	}
	return nil
}

// partnerAct returns the author of a partner's change: the partner, the API key and the non-empty details.
func partnerAct(by partner.Caller, detail map[string]string) lifecycle.TransitionAuthor {
	set := map[string]string{"keyId": id.APIKey.Of(by.Key.ID)}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.TransitionAuthor{Actor: by.Actor(), Detail: set}
}
