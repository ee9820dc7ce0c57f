package payments

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// MovedDebt is a debt of which money moved in a time span, with what happened to it until now.
type MovedDebt struct {
	PaymentID  id.ID
	DepositID  id.ID
	Reference  string
	Tenant     string // The name of the tenant; "" once the client is erased.
	CapturedAt time.Time
	ChargedAt  time.Time // The time of the last charge of the card; zero: the tenant paid before any charge.
	PaidAt     time.Time
	// The amounts that moved in the time span. Collected is zero for a debt that was paid before the span.
	Collected, Refunded, Disputed money.Cents
	RefundedAt                    time.Time   // The time of the last refund in the time span; zero for none.
	RefundedInAll                 money.Cents // The amount of all refunds of the debt, in any time span.
	// The status of the last dispute (Dispute.Status), whenever it began; "" for none.
	Dispute string
}

// Statements reads the money of an account as OwnBooks.Due counts it.
type Statements interface {
	// DueTo returns the sums of an account in a time span: those of OwnBooks.Due, and the disputed amount.
	DueTo(ctx context.Context, accountID id.ID, span ports.Span) (AccountDue, error)
	// Moved lists the debts of an account of which money moved in a time span, last paid first. Their sums are those
	// of DueTo.
	Moved(ctx context.Context, accountID id.ID, span ports.Span, page ports.Page) (ports.List[MovedDebt], error)
}
