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

// ChangeApplier applies the frequent kinds of changes to the database. Changes that arrive at the same time share a
// transaction, which costs less per change (ADR 0006).
type ChangeApplier interface {
	// Apply reads the rows that a change needs, calls its function Decide with them, and commits all writes that
	// Decide returns, or none. A change cannot notice that it shares a transaction: the rows it reads are
	// committed, and no other change has locked them for update.
	//
	// Returns ErrIdempotencyKeyInUse, ErrReferenceTaken, ErrStaleVersion, the error of Decide, or service_unavailable
	// when the database cannot be reached in time.
	Apply(ctx context.Context, change GroupCommitChange) error
}

// GroupCommitChange is a change of the database as data: the rows to read and lock, and the decision that turns these
// rows into writes.
type GroupCommitChange struct {
	Needs RowsToRead
	// Decide returns the writes of a change, from the rows that were read, without side effects. Decide may run
	// twice; only the writes of the last run count. An error ends the change without writes.
	Decide func(FoundRows) (RowsToWrite, error)
}

// ErrNeedsMoreRows is the error of a change of the database that depends on more rows than the shared transaction
// can read for it. Its caller then makes the change in a transaction of its own.
var ErrNeedsMoreRows = errors.New("ports: a change needs more than Needs can name")

// RowsToRead names the database rows that a change reads and locks. The rows of a field with its zero value are not
// read.
type RowsToRead struct {
	Key *IdempotencyKey
	// The time of the request with the idempotency key: a response stored longer than IdempotencyWindow before it
	// does not count.
	Now     time.Time
	Deposit id.ID
	Link    LinkLookupKey   // The partner and the account whose newest link is read with a share lock.
	Client  ClientLookupKey // The client whose row is read with a share lock.
}

// LinkLookupKey names the newest link between a partner and an account, active or revoked.
type LinkLookupKey struct{ PartnerID, AccountID id.ID }

// ClientLookupKey names a client of an account by both ids.
type ClientLookupKey struct{ AccountID, ClientID id.ID }

// FoundRows holds the database rows that were read for a change. A nil field was not requested, or its row does not
// exist. When Stored is set, an earlier request made the change, and the other fields may be nil although their
// rows exist.
type FoundRows struct {
	// The response that an earlier request stored for the same idempotency key; nil: there is none.
	Stored  *StoredResponse
	Deposit *deposit.Deposit
	Link    *LinkedAccount
	Client  *tenant.Client // The client that the change named; nil if the client is erased.
}

// RowsToWrite are the rows that a change writes to the database. A nil field is not written.
type RowsToWrite struct {
	Insert     *NewDeposit
	Transition *DepositTransition
	Event      *Event
	Response   *StoredResponse
}

// IsEmpty reports whether a change writes nothing.
func (w RowsToWrite) IsEmpty() bool {
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
	// The largest amount of a deposit for the account: the negotiated one, or else the service's default.
	MaxAmountCents money.Cents
}
