package payments

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// OwnEntry is a record of ours that the provider's books have too.
type OwnEntry struct {
	Kind        BookKind
	Key         string // id of the payment or the refund in the form of Postgres, or the provider's id of the dispute
	PaymentID   id.ID
	DepositID   id.ID
	ProviderRef string
	Amount      money.Cents
	Status      string
}

// AccountDue is money of an operator: amounts that were collected, less those that went back to tenants.
type AccountDue struct {
	AccountID   id.ID
	CompanyName string
	Collected   money.Cents
	Refunded    money.Cents
	Disputed    money.Cents // of collections, by the time at which the dispute began, whatever its end
}

// Due is what is due to the operator. Disputes are not subtracted: who bears a lost one is not for the books to say.
func (d AccountDue) Due() money.Cents { return d.Collected - d.Refunded }

// ReconciliationRun is the result of a scheduled comparison.
type ReconciliationRun struct {
	EndedAt     time.Time // zero: none has ended yet
	Checked     int
	Differences int
}

// OwnBooks reads our own records of money that moved, and keeps the time and the result of their last comparison.
type OwnBooks interface {
	// Named gives the records of a kind that have these keys, in any state.
	Named(ctx context.Context, kind BookKind, keys []string) (map[string]OwnEntry, error)
	// Between gives the records of a kind that the provider must have: payments and refunds that succeeded at or after
	// from and before to, and disputes that began then.
	Between(ctx context.Context, kind BookKind, from, to time.Time) ([]OwnEntry, error)
	// Due gives the accounts with collections or refunds of collections in the same time, by the name of the company.
	Due(ctx context.Context, from, to time.Time) ([]AccountDue, error)
	// Begin takes the comparison over if the last began before since. ok is false if another dispatcher has.
	Begin(ctx context.Context, now, since time.Time) (ok bool, err error)
	// End stores the result of the comparison that began.
	End(ctx context.Context, r ReconciliationRun) error
	// Last gives the result of the last comparison.
	Last(ctx context.Context) (ReconciliationRun, error)
}
