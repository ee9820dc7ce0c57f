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

// Changes applies the frequent kinds of changes to the database. Changes that arrive at the same time share a
// transaction, which costs less per change (ADR 0006).
type Changes interface {
	// Apply reads the rows that a change needs, calls its Decide, and commits all of its writes or none. A change
	// cannot notice that it shares a transaction: the rows it reads are committed, and no other change has locked
	// them for update.
	//
	// Returns ErrKeyInUse, ErrReferenceTaken, ErrStale, the error of Decide, or service_unavailable when the
	// database cannot be reached in time.
	Apply(ctx context.Context, change Change) error
}

// Change is a change of the database as data: the rows to read and lock, and the decision that turns these rows
// into writes.
type Change struct {
	Needs Needs
	// Decide returns the writes of a change for the rows that were found. It has no side effects. Decide may run
	// twice; only the writes of the last run count. An error ends the change without writes. ErrNeedsMore means that
	// the decision depends on rows that Needs cannot name.
	Decide func(Found) (Writes, error)
}

// ErrNeedsMore is returned by Changes.Apply for a change that reads more rows than Needs can name. Its caller
// then makes the change in UnitOfWork.WithinTx.
var ErrNeedsMore = errors.New("ports: a change needs more than Needs can name")

// Needs names the rows that a change reads. The rows of a field with its zero value are not read.
type Needs struct {
	Key *IdempotencyKey // The idempotency key that the change claims until it ends.
	// The time of the request, set with Key: a response stored longer than IdempotencyWindow before Now does not
	// count.
	Now     time.Time
	Deposit id.ID         // The id of the deposit whose row is locked for update.
	Link    AccountLink   // The partner and the account whose newest link is read with a share lock.
	Client  AccountClient // The client whose row is read with a share lock.
}

// AccountLink names the newest link between a partner and an account, active or revoked.
type AccountLink struct{ PartnerID, AccountID id.ID }

// AccountClient names a client of an account by both ids.
type AccountClient struct{ AccountID, ClientID id.ID }

// Found holds the rows that Needs names. A nil field was not requested, or its row does not exist. When Stored is
// set, an earlier request made the change, and the other fields may be nil although their rows exist.
type Found struct {
	Stored  *StoredResponse // The response that is stored for the idempotency key Needs.Key.
	Deposit *deposit.Deposit
	Link    *LinkedAccount
	Client  *tenant.Client // The client, unless the client is erased.
}

// Writes are the rows that a change writes to the database. A nil field is not written.
type Writes struct {
	Insert     *NewDeposit
	Transition *DepositTransition
	Event      *Event
	Response   *StoredResponse // The response to store for the idempotency key Needs.Key.
}

// None reports whether a change writes nothing.
func (w Writes) None() bool {
	return w.Insert == nil && w.Transition == nil && w.Event == nil && w.Response == nil
}

// NewDeposit is a deposit to insert, with the secret token of its checkout URL.
type NewDeposit struct {
	Deposit       *deposit.Deposit
	CheckoutToken secret.Text
}

// DepositTransition is a deposit after a transition of its status, and the transition itself.
type DepositTransition struct {
	Deposit    *deposit.Deposit
	Transition deposit.Transition
}

// LinkedAccount is a link, with the details of the account that the partner may see.
type LinkedAccount struct {
	connect.Link
	// The ceiling of a deposit's amount for the account; the default ceiling, if none was negotiated.
	MaxAmountCents money.Cents
}
