package deposits

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// DepositFilter narrows a list of deposits; zero fields do not narrow.
type DepositFilter struct {
	// The partner that may read the listed deposits: its own, and deposits made on the dashboard while the partner
	// was linked.
	PartnerID      id.ID
	AccountID      id.ID
	ExternalID     string
	Statuses       []deposit.Status
	RentalContract string
	ClientID       id.ID
	Created        ports.TimeSpan
}

// DueDepositFinder finds due deposits for the jobs of the dispatcher. The result is a hint: the use case locks
// the deposit and checks again.
type DueDepositFinder interface {
	IdleCheckouts(ctx context.Context, before time.Time, limit int) ([]id.ID, error)
	ExpiredCheckouts(ctx context.Context, at time.Time, limit int) ([]id.ID, error)
	ElapsedCovers(ctx context.Context, at time.Time, limit int) ([]id.ID, error)
}

// DepositStore stores deposits, with their history and their timers.
type DepositStore interface {
	// Insert stores a new deposit with the secret token of its checkout URL. Returns ErrReferenceTaken, after which
	// the transaction can still insert the deposit with another reference.
	Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error
	// LockRow locks and returns a deposit, with its client and its partner's name, or deposit.ErrNotFound.
	LockRow(ctx context.Context, depositID id.ID) (*deposit.Deposit, error)
	// LockRowByToken locks and returns the deposit whose checkout URL has a token, or deposit.ErrNotFound.
	LockRowByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error)
	// StoreTransition stores a deposit after a transition and appends the transition to its history. Returns
	// ErrStaleVersion, also from a later call, if the deposit has another status or version by now.
	StoreTransition(ctx context.Context, d *deposit.Deposit, step deposit.Transition) error
	StoreCheckoutProgress(ctx context.Context, d *deposit.Deposit) error
	// Deposit returns the deposit with an id, or deposit.ErrNotFound. The caller checks that the deposit belongs to
	// the partner or operator.
	Deposit(ctx context.Context, depositID id.ID) (*deposit.Deposit, error)
	// DepositByToken returns the deposit whose checkout URL has a token, or deposit.ErrNotFound.
	DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error)
	Deposits(ctx context.Context, f DepositFilter, page ports.Page) (ports.ListPage[*deposit.Deposit], error)
	CheckoutTokens(ctx context.Context, depositIDs []id.ID) (map[id.ID]secret.Text, error)
	// DepositByReference returns the deposit with a reference, or deposit.ErrNotFound.
	DepositByReference(ctx context.Context, reference string) (*deposit.Deposit, error)
	History(ctx context.Context, depositID id.ID) ([]deposit.Transition, error)
}

// TextEraser removes the words of people from deposits.
type TextEraser interface {
	// EraseDepositText removes a deposit's metadata, comments and descriptions, and commits an audit entry with the
	// removal. A deposit without such words gets no entry, and erased is false. Returns deposit.ErrNotFound.
	EraseDepositText(ctx context.Context, depositID id.ID, entry ports.AuditEntry) (erased bool, err error)
	CountDepositsOfClient(ctx context.Context, clientID id.ID) (int, error)
}
