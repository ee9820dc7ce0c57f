package ports

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// DepositFilter narrows a list of deposits; zero fields do not narrow.
type DepositFilter struct {
	PartnerID      id.ID // readable by this partner: its own deposits, and deposits made on the dashboard while the partner was linked
	AccountID      id.ID
	ExternalID     string
	Statuses       []deposit.Status
	RentalContract string
	ClientID       id.ID
	Created        Span
}

// DepositScheduler finds due deposits for the dispatcher's schedulers. The result is a hint: the use case locks the
// deposit and checks again.
type DepositScheduler interface {
	// IdleCheckouts finds pending deposits whose tenant made the last step earlier than before.
	IdleCheckouts(ctx context.Context, before time.Time, limit int) ([]id.ID, error)
	// ExpiredCheckouts finds deposits that are not secured and whose checkoutExpiresAt is not after at.
	ExpiredCheckouts(ctx context.Context, at time.Time, limit int) ([]id.ID, error)
	// ElapsedCoverages finds active deposits whose expiresAt is not after at.
	ElapsedCoverages(ctx context.Context, at time.Time, limit int) ([]id.ID, error)
}

// ClientFilter narrows a list of clients; zero fields do not narrow. Erased clients are in no list, and clients of
// revoked links are not either.
type ClientFilter struct {
	PartnerID id.ID // required
	AccountID id.ID
	Email     string // compared in the form of mailaddr.Normal
}

// SealedAddresses keeps the addresses of erased clients, for the mails of deposits that have not ended.
type SealedAddresses interface {
	// SealedAddress gives the address of the deposit's erased client. Returns tenant.ErrNotFound if the deposit has
	// ended, or if its client is not erased.
	SealedAddress(ctx context.Context, depositID id.ID) (tenant.Address, error)
	// CheckSealedAddresses looks at up to limit clients whose deposits may have ended, and removes the addresses of
	// those whose deposits have. A client is looked at again after pause. checked is the number of clients.
	CheckSealedAddresses(ctx context.Context, limit int, pause time.Duration) (checked int, err error)
}

// Deposits keeps deposits, with their history and their timers.
type Deposits interface {
	// Insert adds a new deposit with the token of its checkout URL. Returns ErrReferenceTaken, after
	// which the transaction stays usable for another reference.
	Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error
	// ForUpdate locks and loads a deposit, with its client and its partner's name. Returns deposit.ErrNotFound.
	ForUpdate(ctx context.Context, depositID id.ID) (*deposit.Deposit, error)
	// ForUpdateByToken is ForUpdate by the token of the checkout URL. Returns deposit.ErrNotFound.
	ForUpdateByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error)
	// Transition stores the deposit after step and appends step to its history. Returns ErrStale, from Transition
	// or a later call, if the deposit has another status or version by now; a lock held since ForUpdate prevents that.
	Transition(ctx context.Context, d *deposit.Deposit, step deposit.Transition) error
	// SetCheckout stores client_id and checkout_started_at, which a checkout step changes without a transition.
	SetCheckout(ctx context.Context, d *deposit.Deposit) error
	// Deposit returns deposit.ErrNotFound. The caller checks that the deposit belongs to the partner or operator.
	Deposit(ctx context.Context, depositID id.ID) (*deposit.Deposit, error)
	// DepositByToken returns deposit.ErrNotFound.
	DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error)
	Deposits(ctx context.Context, f DepositFilter, page Page) (List[*deposit.Deposit], error)
	// CheckoutTokens returns the tokens in the checkout URLs of deposits.
	CheckoutTokens(ctx context.Context, depositIDs []id.ID) (map[id.ID]secret.Text, error)
	// DepositByReference returns deposit.ErrNotFound.
	DepositByReference(ctx context.Context, reference string) (*deposit.Deposit, error)
	// History gives the transitions of a deposit, oldest first.
	History(ctx context.Context, depositID id.ID) ([]deposit.Transition, error)
}

// Texts removes the words of people from deposits.
type Texts interface {
	// EraseDepositText removes a deposit's metadata, comments and descriptions, and commits entry with the removal. The
	// entry's detail counts the rows. A deposit without such words gets no entry, and erased is false. Returns
	// deposit.ErrNotFound.
	EraseDepositText(ctx context.Context, depositID id.ID, entry AuditEntry) (erased bool, err error)
	// DepositsOfClient counts the deposits of a client.
	DepositsOfClient(ctx context.Context, clientID id.ID) (int, error)
}

// Clients writes tenants' records.
type Clients interface {
	Insert(ctx context.Context, c tenant.Client) error
	// OfAccount returns a client of the account, unless the client is erased. A share lock keeps the client from being
	// changed or erased before the transaction ends. Returns tenant.ErrNotFound.
	OfAccount(ctx context.Context, accountID, clientID id.ID) (tenant.Client, error)
	// Lock locks and gives a client of the partner, erased or not; of any partner, if partnerID is zero. Transactions
	// that tell of the client in an event end first. Returns tenant.ErrNotFound.
	Lock(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error)
	// Update stores the person and ChangedAt of a client.
	Update(ctx context.Context, c tenant.Client) error
	// Erase removes the personal data of c, and the waiting mails to c about deposits of c, or of its partner at its
	// account. The address is sealed while deposits of c may not have ended, and the payment provider is to forget c
	// (PaymentErasures). c is locked and not erased.
	Erase(ctx context.Context, c tenant.Client, at time.Time) error
	// Client returns a client of the partner, unless the client is erased. Returns tenant.ErrNotFound.
	Client(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error)
	Clients(ctx context.Context, f ClientFilter, page Page) (List[tenant.Client], error)
	// ClientChangedAt gives the time of the last change of a client's details; zero for none.
	ClientChangedAt(ctx context.Context, clientID id.ID) (time.Time, error)
	// ClientByID gives a client of any account, erased ones too. Returns tenant.ErrNotFound.
	ClientByID(ctx context.Context, clientID id.ID) (tenant.Client, error)
	// ClientsByEmail gives up to limit clients that are not erased, newest first. ASCII letters are compared in lower
	// case.
	ClientsByEmail(ctx context.Context, email string, limit int) ([]tenant.Client, error)
}
