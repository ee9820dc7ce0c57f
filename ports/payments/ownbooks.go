package payments

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// OwnEntry is an entry in the books of this service about a payment, refund or dispute that the provider's books
// must have too.
type OwnEntry struct {
	Kind BookKind
	// The id of the payment or the refund in the form of Postgres, or the provider's id of the dispute.
	Key         string
	PaymentID   id.ID
	DepositID   id.ID
	ProviderRef string
	Amount      money.Cents
	Status      string
}

// AccountDue is the money that is due to an operator: amounts that were collected, less those that went back to
// tenants.
type AccountDue struct {
	AccountID   id.ID
	CompanyName string
	Collected   money.Cents
	Refunded    money.Cents
	// The disputed amount of collections, by the time at which the dispute began, whatever its end.
	Disputed money.Cents
}

// Due returns the money that is due to the operator. Disputes are not subtracted: the books do not decide who
// bears a lost dispute.
func (d AccountDue) Due() money.Cents { return d.Collected - d.Refunded }

// ReconciliationRun is the result of a scheduled comparison of the books.
type ReconciliationRun struct {
	EndedAt     time.Time // When the comparison ended; zero: none has ended yet.
	Checked     int
	Differences int
}

// OwnBooks reads this service's own records of money that moved, and stores the time and the result of their last
// comparison with the provider's books.
type OwnBooks interface {
	// Named returns the entries of a kind with these keys, in any status.
	Named(ctx context.Context, kind BookKind, keys []string) (map[string]OwnEntry, error)
	// Between returns the entries of a kind that the provider's books must have: payments and refunds that succeeded
	// at or after from and before to, and disputes that began in that time.
	Between(ctx context.Context, kind BookKind, from, to time.Time) ([]OwnEntry, error)
	// Due returns the accounts with collections or refunds of collections between two times, ordered by the name of
	// the company. The time from is included, to is not.
	Due(ctx context.Context, from, to time.Time) ([]AccountDue, error)
	// Begin starts a comparison of the books if the last one began before since. ok is true if it did, and false if
	// another dispatcher has started one.
	Begin(ctx context.Context, now, since time.Time) (ok bool, err error)
	// End stores the result of the comparison that Begin started.
	End(ctx context.Context, r ReconciliationRun) error
	// Last returns the result of the last comparison of the books.
	Last(ctx context.Context) (ReconciliationRun, error)
}
