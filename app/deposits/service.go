// Package deposits holds the use cases of the partner API about deposits: create, read, cancel, release, capture, and
// send the link to checkout. The steps of the tenant are in app/deposits/checkout. Both packages record every
// transition through app/deposits/lifecycle.
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

// Deps are the parts that the use cases use.
type Deps struct {
	Idempotent  *idempotent.Executor
	Journal     lifecycle.Journal
	Deposits    depositports.Deposits
	Payments    Payments
	Collections paymentports.Collections
	Clients     partnerports.Clients
	Links       accountports.Links
	Mails       ports.Mails
	Audit       ports.AuditLog
	Metrics     depositports.DepositMetrics
	Clock       ports.Clock
	Entropy     ports.Entropy
	Timers      deposit.Timers
	LeastCharge money.Cents // the smallest amount that the payment provider can charge
	Operators   accountports.Operators
	Files       depositports.Files
	Contents    depositports.FileContents
	Cleaner     depositports.FileCleaner
	Drafts      depositports.FormDrafts
	Agreements  depositports.Agreements
	// VerifyAddresses refuses acts on the desk that charge or mail a tenant, to operators whose address is not verified.
	VerifyAddresses bool
	Codes           Codes
	// DashboardURL is the base of checkout URLs: DASHBOARD_BASE_URL.
	DashboardURL string
	Imprint      agreement.Imprint // in mails to tenants
}

// Payments moves the money of a deposit; payments.Service implements it.
type Payments interface {
	// BeginCollection inserts the payment that collects the captured amount of a deposit, in the transaction of the
	// capture.
	BeginCollection(ctx context.Context, captured *deposit.Deposit, now time.Time) (deposit.Debt, error)
	// FirstCharge tells when the card is charged for an amount that is captured now.
	FirstCharge(now time.Time) time.Time
	// LockFeeInFlight locks and gives the fee payment of a deposit that is processing, in a transaction; nil for none.
	LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error)
	// SettleFee asks the provider to close the payment page of the deposit, outside any transaction, and records the
	// outcome. Afterwards no fee payment is processing. If the tenant paid first, the deposit is active.
	SettleFee(ctx context.Context, depositID id.ID) error
	// AskDebtEnd asks for an operator's end of a collection, in a transaction. Returns deposit.ErrCollectionOver or
	// deposit.ErrCollectionEnding.
	AskDebtEnd(ctx context.Context, depositID id.ID, as deposit.CollectionTrigger, by actor.Actor, now time.Time) error
	// FinishDebtEnd closes the payment at the provider, outside any transaction, and gives the debt as it is then. Where
	// the provider cannot be reached, the debt is still being ended.
	FinishDebtEnd(ctx context.Context, depositID id.ID) (deposit.Debt, error)
	// Remind records in a transaction that the tenant is mailed the link to pay again. Returns the errors of
	// Debt.Remindable.
	Remind(ctx context.Context, depositID id.ID, now time.Time) error
}

// Codes asks operators for two-factor codes; signin.Codes implements it.
type Codes interface {
	On(ctx context.Context, operatorID id.ID) (bool, error)
	Guard(ctx context.Context, o connect.Operator, from signin.Browser, now time.Time, use func() error) error
	// Accept uses a code up, in the transaction of the act that it allows. Returns twofactor.ErrWrongCode.
	Accept(ctx context.Context, o connect.Operator, code string, now time.Time) (required bool, err error)
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service {
	deps.DashboardURL = strings.TrimRight(deps.DashboardURL, "/")
	return &Service{deps: deps}
}

// View is a deposit with the values that only responses to its partner contain.
type View struct {
	*deposit.Deposit
	CheckoutURL    string // "" unless the deposit was created with depositUrlGeneration
	CoversContract bool
	Debt           *deposit.Debt // of a captured deposit; nil otherwise
}

func (s *Service) view(d *deposit.Deposit, now time.Time) View {
	v := View{Deposit: d, CoversContract: d.CoversContract(s.deps.Timers, now)}
	if d.URLGeneration && d.CheckoutToken != "" {
		v.CheckoutURL = site.CheckoutURL(s.deps.DashboardURL, d.CheckoutToken.Reveal())
	}
	return v
}

// readable returns deposit_access_denied unless the partner may read d: a deposit of its own, or a deposit made on the
// dashboard while the partner was linked.
func readable(d *deposit.Deposit, partnerID id.ID) error {
	if d.PartnerID != partnerID {
		return deposit.ErrAccessDenied
	}
	return nil
}

// changeable returns an error for a missing deposit (nil), and for a deposit that the partner did not create (api.md
// §2).
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

// partnerAct is the author of a partner's change in the history of a deposit: the partner, the API key, and the
// non-empty details.
func partnerAct(by partner.Caller, detail map[string]string) lifecycle.By {
	set := map[string]string{"keyId": id.APIKey.Of(by.Key.ID)}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.By{Actor: by.Actor(), Detail: set}
}
