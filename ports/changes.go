package ports

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// Changes applies frequent changes. Changes that arrive at the same time share one transaction, which costs each change a
// fraction of a transaction of its own (ADR 0006).
type Changes interface {
	// Apply reads what the change needs, lets it decide, and commits its writes: all of them or none. A change cannot tell
	// whether it shared a transaction: rows that it read are committed, rows that it locked are its own.
	//
	// Returns ErrKeyInUse, ErrReferenceTaken, ErrStale, what Decide returned, or service_unavailable when the database
	// cannot be reached in time.
	Apply(ctx context.Context, change Change) error
}

// Change is a change as data: the rows that it reads and locks, and the decision that turns them into writes.
type Change struct {
	Needs Needs
	// Decide is pure. It may run twice, and only the writes of its last run count. Its error ends the change without
	// writes. ErrNeedsMore says that Needs cannot name what the decision depends on.
	Decide func(Found) (Writes, error)
}

// ErrNeedsMore asks the caller of Changes.Apply to do the work in UnitOfWork.WithinTx.
var ErrNeedsMore = errors.New("ports: a change needs more than Needs can name")

// Needs names the rows that a change reads. A zero field is not read.
type Needs struct {
	Key     *IdempotencyKey // claimed until the change ends
	Now     time.Time       // a response stored IdempotencyWindow before Now does not count; set with Key
	Deposit id.ID           // locked for update
	Link    AccountLink     // the newest link of the pair, share-locked
	Client  AccountClient   // share-locked
}

// AccountLink names the newest link between a partner and an account, active or revoked.
type AccountLink struct{ PartnerID, AccountID id.ID }

// AccountClient names a client of an account.
type AccountClient struct{ AccountID, ClientID id.ID }

// Found holds the rows that Needs names. A nil field was not asked for, or does not exist. When Stored is set, the other
// fields may be nil although their rows exist: the change was made before.
type Found struct {
	Stored  *StoredResponse // of Needs.Key
	Deposit *deposit.Deposit
	Link    *LinkedAccount
	Client  *tenant.Client // not erased
}

// Writes are the rows that a change writes. A nil field is not written.
type Writes struct {
	Insert   *NewDeposit
	Move     *Move
	Event    *Event
	Response *StoredResponse // under Needs.Key
}

// None reports whether there is nothing to write.
func (w Writes) None() bool {
	return w.Insert == nil && w.Move == nil && w.Event == nil && w.Response == nil
}

// NewDeposit is a deposit to insert, with the token of its checkout URL.
type NewDeposit struct {
	Deposit       *deposit.Deposit
	CheckoutToken secret.Text
}

// Move is a deposit after a transition, and the transition.
type Move struct {
	Deposit *deposit.Deposit
	Step    deposit.Transition
}
