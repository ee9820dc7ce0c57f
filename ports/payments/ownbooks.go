package payments

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// OwnBookEntry is this service's record of a payment, refund or dispute of which the payment provider must have a
// record too.
type OwnBookEntry struct {
	Kind        BookEntryKind
	Key         string
	PaymentID   id.ID
	DepositID   id.ID
	ProviderRef string
	Amount      money.Cents
	Status      string
}

// AccountTotals is the money that is due to an operator: amounts that were collected, less those that went back to
// tenants.
type AccountTotals struct {
	AccountID   id.ID
	CompanyName string
	Collected   money.Cents
	Refunded    money.Cents
	// The amount of collections that tenants disputed, by the time at which the dispute began, whatever its end.
	Disputed money.Cents
}

// AmountOwedToOperator returns the money that is due to the operator. Disputed amounts are not subtracted, since this
// service does not decide who bears a lost dispute.
func (d AccountTotals) AmountOwedToOperator() money.Cents { return d.Collected - d.Refunded }

// ReconciliationRun is the result of a scheduled comparison of this service's payments with the payment
// provider's.
type ReconciliationRun struct {
	EndedAt     time.Time // When the last comparison with the payment provider ended; zero: none has ended yet.
	Checked     int
	Differences int
}

// OwnBookStore reads this service's own records of money that moved, and stores the time and the result of their last
// comparison with the payment provider's records.
type OwnBookStore interface {
	// EntriesByKey returns this service's records of a kind (payment, refund or dispute) with the given keys, in any
	// status.
	EntriesByKey(ctx context.Context, kind BookEntryKind, keys []string) (map[string]OwnBookEntry, error)
	// EntriesBetween returns this service's records of a kind of which the payment provider must have one too, from
	// the time from (included) to the time to.
	EntriesBetween(ctx context.Context, kind BookEntryKind, from, to time.Time) ([]OwnBookEntry, error)
	// Due returns the accounts with collections or refunds of collections between two times, ordered by the name of
	// the company. The time from is included, to is not.
	TotalsByAccount(ctx context.Context, from, to time.Time) ([]AccountTotals, error)
	// BeginReconciliation starts a comparison with the payment provider's records if the last one began before since.
	// ok reports whether it started.
	BeginReconciliation(ctx context.Context, now, since time.Time) (ok bool, err error)
	EndReconciliation(ctx context.Context, r ReconciliationRun) error
	LastReconciliation(ctx context.Context) (ReconciliationRun, error)
}
