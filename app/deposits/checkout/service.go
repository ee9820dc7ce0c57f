package checkout

import (
	"context"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	UnitOfWork ports.UnitOfWork
	Journal    lifecycle.Journal
	Deposits   depositports.DepositStore
	Clients    partnerports.ClientStore
	Operators  accountports.OperatorStore
	Payments   FeePayments
	Paid       paymentports.PaymentStore
	Debts      DebtPayments
	Agreements depositports.AgreementStore
	Mails      ports.MailQueue
	Scoring    depositports.TenantScorer
	Clock      ports.Clock
	Entropy    ports.Entropy
	Timers     deposit.TimerDurations
	Imprint    agreement.Imprint
}

// FeePayments takes the fee that a tenant pays in the checkout.
type FeePayments interface {
	// HasFeeInFlight reports, without a lock, whether a fee payment is begun and not settled.
	HasFeeInFlight(ctx context.Context, depositID id.ID) (bool, error)
	// OpenFeePage begins or continues a fee payment and returns the URL of the provider's page. prepare runs in the
	// payment's transaction.
	//
	// Returns deposit.ErrNotSecurable when the checkout has ended, or service_unavailable.
	OpenFeePage(ctx context.Context, d *deposit.Deposit, token secret.Text, payer *tenant.Person,
		prepare lifecycle.PrepareDepositFunc, now time.Time) (string, error)
	// LockFeeInFlight locks and returns the unsettled fee payment; nil for none.
	LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error)
	// ConfirmFeePayment records the provider's result of the fee payment in flight; ends closes an unpaid page.
	//
	// Returns service_unavailable when the provider cannot be reached.
	ConfirmFeePayment(ctx context.Context, depositID id.ID, ends bool, now time.Time) error
	// EndCheckout settles the fee payment in flight and applies trigger to the deposit. prepare, which may be nil,
	// runs in the same transaction.
	//
	// Returns deposit.ErrNotCancellable when the checkout had ended already, or service_unavailable.
	EndCheckout(ctx context.Context, depositID id.ID, trigger deposit.Trigger, prepare lifecycle.PrepareDepositFunc,
		now time.Time) error
}

// DebtPayments takes captured amounts from tenants whose card was refused.
type DebtPayments interface {
	FindDebt(ctx context.Context, depositID id.ID) (*deposit.Debt, error)
	// OpenDebtPage returns the URL of the provider's page for the debt.
	//
	// Returns deposit.ErrCollectionNotPayable unless the debt waits for the tenant, or service_unavailable.
	OpenDebtPage(ctx context.Context, d *deposit.Deposit, token secret.Text, now time.Time) (string, error)
	// ConfirmDebtPayment records the provider's result for a debt, or returns service_unavailable.
	ConfirmDebtPayment(ctx context.Context, depositID id.ID, now time.Time) error
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }
