package payments

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// MovedDebt is a debt of which money moved in a span, with its way until now.
type MovedDebt struct {
	PaymentID  id.ID
	DepositID  id.ID
	Reference  string
	Tenant     string // "" once erased
	CapturedAt time.Time
	ChargedAt  time.Time // of the last charge of the card; zero: the tenant paid before any
	PaidAt     time.Time
	// What moved in the span. Collected is zero for a debt that was paid before it.
	Collected, Refunded, Disputed money.Cents
	RefundedAt                    time.Time   // of the last refund in the span; zero for none
	RefundedInAll                 money.Cents // in any span
	Dispute                       string      // Dispute.Status of the last one, whenever it began; "" for none
}

// Statements reads the money of an account as OwnBooks.Due counts it.
type Statements interface {
	// DueTo gives the sums of an account in a span: those of OwnBooks.Due, and what was disputed.
	DueTo(ctx context.Context, accountID id.ID, span ports.Span) (AccountDue, error)
	// Moved lists the debts of an account of which money moved in a span, last paid first. Their sums are those of
	// DueTo.
	Moved(ctx context.Context, accountID id.ID, span ports.Span, page ports.Page) (ports.List[MovedDebt], error)
}
