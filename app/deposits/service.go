// Package deposits holds the use cases that act on deposits. For partners: create, read, cancel, release and
// capture deposits, and send the checkout link. For operators: the forms for the same acts, reminders, the
// end of debts, uploaded files and form drafts. The package also mails operators about their deposits. The
// operators' pages are read by app/deposits/desk, and the tenant's steps are in app/deposits/checkout. Every
// transition is recorded through app/deposits/lifecycle.
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

// Deps holds the repositories, clients and settings that the use cases of deposits need.
type Deps struct {
	Idempotent  *idempotent.Executor
	Journal     lifecycle.Journal
	Deposits    depositports.DepositStore
	Payments    PaymentService
	Collections paymentports.CollectionStore
	Clients     partnerports.ClientStore
	Links       accountports.LinkStore
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
	// true: such an act of an operator without one is refused; false: it is allowed.
	VerifyAddresses bool
	Codes           TwoFactorCodes
	// The setting DASHBOARD_BASE_URL: the base of checkout URLs, without a slash at its end.
	DashboardURL string
	Imprint      agreement.Imprint // The terms, privacy notice and support address for mails to tenants.
}

// PaymentService begins, settles and ends the payments for a deposit.
type PaymentService interface {
	// BeginCollection inserts the payment that collects the captured amount of a deposit, in the transaction of
	// the capture.
	BeginCollection(ctx context.Context, captured *deposit.Deposit, now time.Time) (deposit.Debt, error)
	// FirstChargeTime returns the time at which the card is charged for an amount that is captured now.
	FirstChargeTime(now time.Time) time.Time
	// LockFeeInFlight locks and returns the fee payment of a deposit that is processing; nil for none. The
	// caller holds a transaction.
	LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error)
	// SettleFee closes the deposit's payment page at the provider, outside any transaction, and records the
	// outcome. Afterwards no fee payment is processing. If the tenant paid first, the deposit is active.
	SettleFee(ctx context.Context, depositID id.ID) error
	// RequestDebtEnd records, in a transaction, that an operator wants to end a collection. Returns
	// deposit.ErrCollectionOver or deposit.ErrCollectionEnding.
	RequestDebtEnd(ctx context.Context, depositID id.ID, as deposit.CollectionTrigger, by actor.Actor, now time.Time) error
	// FinishDebtEnd closes the payment of a debt at the provider, outside any transaction, and returns the debt
	// afterwards. Where the provider cannot be reached, the debt stays in the state of being ended.
	FinishDebtEnd(ctx context.Context, depositID id.ID) (deposit.Debt, error)
	// RecordReminder records, in a transaction, that the tenant is mailed the link to pay again. Returns the errors of
	// Debt.Remindable.
	RecordReminder(ctx context.Context, depositID id.ID, now time.Time) error
}

// TwoFactorCodes checks the two-factor codes of operators.
type TwoFactorCodes interface {
	Enabled(ctx context.Context, operatorID id.ID) (bool, error)
	LimitTries(ctx context.Context, o connect.Operator, from signin.Browser, now time.Time, use func() error) error
	// Accept uses up a two-factor code, in the transaction of the act that the code allows. Returns
	// twofactor.ErrWrongCode.
	Accept(ctx context.Context, o connect.Operator, code string, now time.Time) (required bool, err error)
}

// Service runs the acts of partners and operators on deposits.
type Service struct{ deps Deps }

// New returns a service that runs the acts on deposits. A slash at the end of its base URL is removed.
func New(deps Deps) *Service {
	deps.DashboardURL = strings.TrimRight(deps.DashboardURL, "/")
	return &Service{deps: deps}
}

// PartnerView is a deposit with the values that only responses to its partner contain.
type PartnerView struct {
	*deposit.Deposit
	// The URL of the checkout; "" unless the deposit was created with depositUrlGeneration.
	CheckoutURL    string
	CoversContract bool
	Debt           *deposit.Debt // The debt of a captured deposit; nil for any other.
}

func (s *Service) view(d *deposit.Deposit, now time.Time) PartnerView {
	v := PartnerView{Deposit: d, CoversContract: d.CoversContract(s.deps.Timers, now)}
	if d.URLGeneration && d.CheckoutToken != "" {
		v.CheckoutURL = site.CheckoutURL(s.deps.DashboardURL, d.CheckoutToken.Reveal())
	}
	return v
}

// readable returns deposit_access_denied unless the partner may read d: a deposit of its own, or a deposit
// that an operator made while the partner was linked.
func readable(d *deposit.Deposit, partnerID id.ID) error {
	if d.PartnerID != partnerID {
		return deposit.ErrAccessDenied
	}
	return nil
}

// changeable returns an error for a missing deposit (nil), and for a deposit that the partner did not create
// (api.md §2).
//
// Returns deposit_not_found or deposit_access_denied.
func changeable(d *deposit.Deposit, partnerID id.ID) error {
	if d == nil {
		return deposit.ErrNotFound
	}
	if d.PartnerID != partnerID || !d.ByPartnerAPI {
		return deposit.ErrAccessDenied
	}
	return nil
}

// partnerAct returns the author of a partner's change for the history of a deposit: the partner, the id of
// the API key, and the non-empty details.
func partnerAct(by partner.Caller, detail map[string]string) lifecycle.TransitionAuthor {
	set := map[string]string{"keyId": id.APIKey.Of(by.Key.ID)}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.TransitionAuthor{Actor: by.Actor(), Detail: set}
}
