package platform

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// Changes applies frequent changes. Changes that arrive at the same time share a transaction, which costs less per
// change (ADR 0006).
type Changes interface {
	// Apply reads the rows that the change needs, calls Decide, and commits all of its writes or none. Sharing a
	// transaction is invisible to a change: the rows it reads are committed, and no other change has locked them for
	// update.
	//
	// Returns ErrKeyInUse, ErrReferenceTaken, ErrStale, the error of Decide, or service_unavailable when the database
	// cannot be reached in time.
	Apply(ctx context.Context, change Change) error
}

// Change is data: the rows to read and lock, and the decision that turns the rows into writes.
type Change struct {
	Needs Needs
	// Decide has no side effects. Decide may run twice; only the writes of the last run count. An error ends the change
	// without writes. ErrNeedsMore says that the decision depends on rows that Needs cannot name.
	Decide func(Found) (Writes, error)
}

// ErrNeedsMore asks the caller of Changes.Apply to do the work in UnitOfWork.WithinTx.
var ErrNeedsMore = errors.New("ports: a change needs more than Needs can name")

// Needs names the rows that a change reads. A zero field is not read.
type Needs struct {
	Key     *IdempotencyKey // claimed until the change ends
	Now     time.Time       // a response stored IdempotencyWindow before Now does not count; set with Key
	Deposit id.ID           // locked for update
	Link    AccountLink     // the newest link of partner and account, share-locked
	Client  AccountClient   // share-locked
}

// AccountLink names the newest link between a partner and an account, active or revoked.
type AccountLink struct{ PartnerID, AccountID id.ID }

// AccountClient names a client of an account.
type AccountClient struct{ AccountID, ClientID id.ID }

// Found holds the rows that Needs names. A nil field was not requested, or its row does not exist. When Stored is set,
// the change was made before, and the other fields may be nil although their rows exist.
type Found struct {
	Stored  *StoredResponse // of Needs.Key
	Deposit *deposit.Deposit
	Link    *LinkedAccount
	Client  *tenant.Client // not erased
}

// Writes are the rows that a change writes. A nil field is not written.
type Writes struct {
	Insert     *NewDeposit
	Transition *DepositTransition
	Event      *Event
	Response   *StoredResponse // stored under Needs.Key
}

// None reports whether no field is set.
func (w Writes) None() bool {
	return w.Insert == nil && w.Transition == nil && w.Event == nil && w.Response == nil
}

// NewDeposit is a deposit to insert, with the token of its checkout URL.
type NewDeposit struct {
	Deposit       *deposit.Deposit
	CheckoutToken secret.Text
}

// DepositTransition is a deposit after a transition, and the transition.
type DepositTransition struct {
	Deposit    *deposit.Deposit
	Transition deposit.Transition
}

// LinkedAccount is a link, with the details of the account that the partner may see.
type LinkedAccount struct {
	connect.Link
	MaxAmountCents money.Cents // the ceiling; the default, if none was negotiated
}
