package payments

import (
	"log/slog"
	"strconv"
	"strings"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// Deps holds the dependencies of payments; Simulator is nil when payments cannot be simulated.
type Deps struct {
	UnitOfWork      ports.UnitOfWork
	Transitions     lifecycle.TransitionApplier
	Deposits        depositports.DepositStore
	Operators       accountports.OperatorStore
	Payments        paymentports.PaymentStore
	Collections     paymentports.CollectionStore
	Refunds         paymentports.RefundStore
	TenantNotices   paymentports.TenantNoticeStore
	OperatorNotices depositports.OperatorNoticeStore
	Audit           ports.AuditLog
	Provider        paymentports.PaymentProvider
	Simulator       paymentports.PaymentSimulator
	Clock           ports.Clock
	Entropy         ports.Entropy
	// The metrics of payments; nil: nothing is counted.
	PaymentMetrics paymentports.PaymentMetrics
	Log            *slog.Logger
	// The setting COLLECTION_RETRY_SCHEDULE, the times of further tries of a refused charge.
	Schedule deposit.CollectionSchedule
	// The setting DASHBOARD_BASE_URL, to whose checkout pages the provider sends tenants back.
	DashboardURL string
}

type Service struct {
	deps Deps
	// The guard of the calls to the payment provider limits their number and pauses them after failures.
	provider *guard
}

// New returns a service on payments; without PaymentMetrics nothing is counted.
func New(deps Deps) *Service {
	deps.DashboardURL = strings.TrimSuffix(deps.DashboardURL, "/")
	if deps.PaymentMetrics == nil {
		deps.PaymentMetrics = uncounted{}
	}
	return &Service{deps: deps, provider: newGuard(deps.Provider, deps.Clock, deps.Log)}
}

type uncounted struct{}

func (uncounted) CountResult(deposit.PaymentKind, paymentports.PaymentResult, money.Cents) {}
func (uncounted) CountRefundResult(paymentports.PaymentResult, money.Cents)                {}

// returnURL returns the page to which the provider sends the tenant back.
func (s *Service) returnURL(depositID id.ID, checkoutToken secret.Text) string {
	token := deposit.ReturnPageToken(depositID, checkoutToken)
	return site.PageURL(s.deps.DashboardURL, site.FillPath(site.CheckoutReturnPath, token.Reveal()))
}

func cents(c money.Cents) string { return strconv.FormatInt(int64(c), 10) }
