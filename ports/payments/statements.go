package payments

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// DebtMovement is a debt of a tenant of which money moved in a time span, with what happened to it until now.
type DebtMovement struct {
	PaymentID  id.ID
	DepositID  id.ID
	Reference  string
	Tenant     string
	CapturedAt time.Time
	ChargedAt  time.Time // When the card was last charged for the debt; zero: the tenant paid before any charge.
	PaidAt     time.Time
	// The amounts of the debt that were collected, refunded and disputed in the time span. Collected is zero for a
	// debt that was paid before the span.
	Collected, Refunded, Disputed money.Cents
	// The time of the debt's last refund in the time span; zero: there was none.
	RefundedAt    time.Time
	RefundedInAll money.Cents // The amount of all refunds of the debt, in any time span.
	// The status of the debt's last dispute (Dispute.Status), whenever it began; "": there was none.
	Dispute string
}

// StatementReader reads, for an account, which money moved: what was collected, refunded and disputed.
type StatementReader interface {
	TotalsOfAccount(ctx context.Context, accountID id.ID, span ports.TimeSpan) (AccountTotals, error)
	// DebtMovements lists the debts of an account of which money moved in a time span, last paid first.
	DebtMovements(ctx context.Context, accountID id.ID, span ports.TimeSpan,
		page ports.Page) (ports.ListPage[DebtMovement], error)
}
