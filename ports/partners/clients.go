package partners

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
)

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
	Clients(ctx context.Context, f ClientFilter, page ports.Page) (ports.List[tenant.Client], error)
	// ClientChangedAt gives the time of the last change of a client's details; zero for none.
	ClientChangedAt(ctx context.Context, clientID id.ID) (time.Time, error)
	// ClientByID gives a client of any account, erased ones too. Returns tenant.ErrNotFound.
	ClientByID(ctx context.Context, clientID id.ID) (tenant.Client, error)
	// ClientsByEmail gives up to limit clients that are not erased, newest first. ASCII letters are compared in lower
	// case.
	ClientsByEmail(ctx context.Context, email string, limit int) ([]tenant.Client, error)
}
