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

// Deps holds the repositories, clients and settings that the checkout needs.
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
	// HasFeeInFlight reports, without a lock, whether a fee payment of the deposit is in flight: begun and not settled.
	HasFeeInFlight(ctx context.Context, depositID id.ID) (bool, error)
	// OpenFeePage begins a fee payment, or continues the one that was begun and is not settled, and returns the URL
	// of the provider's page. prepare runs in the transaction of the payment.
	//
	// Returns deposit.ErrNotSecurable when the checkout has ended, or service_unavailable.
	OpenFeePage(ctx context.Context, d *deposit.Deposit, token secret.Text, payer *tenant.Person,
		prepare lifecycle.PrepareDepositFunc, now time.Time) (string, error)
	// LockFeeInFlight locks and returns the fee payment that was begun and is not settled; nil for none. The caller
	// holds a transaction.
	LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error)
	// ConfirmFeePayment queries the provider about the fee payment in flight and records the result. ends: true closes
	// an unpaid page, false keeps it open.
	//
	// Returns service_unavailable when the provider cannot be reached.
	ConfirmFeePayment(ctx context.Context, depositID id.ID, ends bool, now time.Time) error
	// EndCheckout settles the fee payment in flight and then applies trigger to the deposit. prepare, which may
	// be nil, runs in the transaction of the transition.
	//
	// Returns deposit.ErrNotCancellable when the checkout had ended already, or service_unavailable.
	EndCheckout(ctx context.Context, depositID id.ID, trigger deposit.Trigger, prepare lifecycle.PrepareDepositFunc,
		now time.Time) error
}

// DebtPayments takes captured amounts from tenants whose card was refused.
type DebtPayments interface {
	// Debt returns the debt of a captured deposit; nil if the deposit has none.
	Debt(ctx context.Context, depositID id.ID) (*deposit.Debt, error)
	// OpenDebtPage returns the URL of the provider's page on which the tenant pays the debt.
	//
	// Returns deposit.ErrCollectionNotPayable unless the debt waits for the tenant, or service_unavailable.
	OpenDebtPage(ctx context.Context, d *deposit.Deposit, token secret.Text, now time.Time) (string, error)
	// ConfirmDebtPayment queries the provider about a debt that waits for the tenant, and records the result.
	//
	// Returns service_unavailable when the provider cannot be reached.
	ConfirmDebtPayment(ctx context.Context, depositID id.ID, now time.Time) error
}

// Service leads a tenant through the checkout of a deposit, and through the payment of a debt.
type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }
