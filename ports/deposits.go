package ports

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// DepositRepository writes deposits.
type DepositRepository interface {
	// Insert adds a new deposit with the token of its checkout URL. ErrReferenceTaken asks for another reference;
	// the transaction stays usable.
	Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error
	// ForUpdate locks and loads a deposit, with its client and its partner's name. Returns deposit.ErrNotFound.
	ForUpdate(ctx context.Context, depositID id.ID) (*deposit.Deposit, error)
	// ForUpdateByToken is ForUpdate by the token of the checkout URL. Returns deposit.ErrNotFound.
	ForUpdateByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error)
	// Transition stores the deposit after step and appends step to its history, guarded by status and version:
	// ErrStale when somebody else moved it, which a lock held since ForUpdate rules out.
	Transition(ctx context.Context, d *deposit.Deposit, step deposit.Transition) error
	// SetCheckout stores what a checkout step changes without a transition: client_id and checkout_started_at.
	SetCheckout(ctx context.Context, d *deposit.Deposit) error
}

// DepositFilter narrows a list of deposits; zero fields do not narrow.
type DepositFilter struct {
	PartnerID      id.ID // what this partner may read: its own, and those made on the dashboard while it was linked
	AccountID      id.ID
	ExternalID     string
	Statuses       []deposit.Status
	RentalContract string
	ClientID       id.ID
	Created        Span
}

// DepositReader reads deposits outside transactions.
type DepositReader interface {
	// Deposit returns deposit.ErrNotFound. Whose it is the caller checks.
	Deposit(ctx context.Context, depositID id.ID) (*deposit.Deposit, error)
	// DepositByToken returns deposit.ErrNotFound.
	DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error)
	Deposits(ctx context.Context, f DepositFilter, page Page) (List[*deposit.Deposit], error)
	// CheckoutTokens gives the tokens of deposits, for their checkout URLs.
	CheckoutTokens(ctx context.Context, depositIDs []id.ID) (map[id.ID]secret.Text, error)
}

// DepositScheduler finds deposits whose time has come, for the dispatcher's schedulers. What it returns is a hint:
// the use case locks and looks again.
type DepositScheduler interface {
	// IdleCheckouts: pending, and the tenant's last step was before.
	IdleCheckouts(ctx context.Context, before time.Time, limit int) ([]id.ID, error)
	// ExpiredCheckouts: not secured, and checkoutExpiresAt is not after at.
	ExpiredCheckouts(ctx context.Context, at time.Time, limit int) ([]id.ID, error)
	// ElapsedCoverages: active, and expiresAt is not after at.
	ElapsedCoverages(ctx context.Context, at time.Time, limit int) ([]id.ID, error)
}

// ClientRepository writes tenants.
type ClientRepository interface {
	Insert(ctx context.Context, c tenant.Client) error
	// OfAccount gives a client of that account that is not erased. Returns tenant.ErrNotFound.
	OfAccount(ctx context.Context, accountID, clientID id.ID) (tenant.Client, error)
}

// ClientReader reads tenants outside transactions.
type ClientReader interface {
	// Client gives a client of an account that partnerID is or was linked to and created it. Returns tenant.ErrNotFound.
	Client(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error)
}
