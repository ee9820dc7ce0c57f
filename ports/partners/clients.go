package partners

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
)

// ClientFilter narrows a list of clients; zero fields do not narrow. A list has neither erased clients nor
// clients of accounts whose link is revoked.
type ClientFilter struct {
	PartnerID id.ID
	AccountID id.ID
	Email     string // The e-mail address of the client, compared in the form of mailaddr.Normal.
}

// ErasedClientAddressStore stores, encrypted, the e-mail addresses of erased clients until their deposits have ended,
// since mails about these deposits must still arrive.
type ErasedClientAddressStore interface {
	// ErasedClientAddress returns the address of a deposit's erased client, or tenant.ErrNotFound if the deposit has ended
	// or its client is not erased.
	ErasedClientAddress(ctx context.Context, depositID id.ID) (tenant.MailAddress, error)
	// DeleteUnneededAddresses checks up to limit erased clients whose e-mail address is still stored, and removes the
	// address if their deposits have ended. A client is checked again after pause. checked is the number of
	// clients that were checked.
	DeleteUnneededAddresses(ctx context.Context, limit int, pause time.Duration) (checked int, err error)
}

// ClientStore stores clients, the records of tenants.
type ClientStore interface {
	Insert(ctx context.Context, c tenant.Client) error
	// LockRowShared returns a client of the account, or tenant.ErrNotFound, also for an erased client. A share lock
	// keeps the client from being changed or erased before the transaction ends.
	LockRowShared(ctx context.Context, accountID, clientID id.ID) (tenant.Client, error)
	// LockRow locks and returns a client of the partner, erased or not; of any partner, if partnerID is zero. Returns
	// tenant.ErrNotFound.
	LockRow(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error)
	Update(ctx context.Context, c tenant.Client) error
	// Erase removes the personal data of the client c, and the waiting mails to c. The address stays, encrypted,
	// while deposits of c may not have ended, and a request to erase c at the payment provider is stored.
	Erase(ctx context.Context, c tenant.Client, at time.Time) error
	// Client returns a client of the partner, or tenant.ErrNotFound, also for an erased client.
	Client(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error)
	Clients(ctx context.Context, f ClientFilter, page ports.Page) (ports.ListPage[tenant.Client], error)
	// ClientChangedAt returns the time of the last change of a client's details; zero for none.
	ClientChangedAt(ctx context.Context, clientID id.ID) (time.Time, error)
	// ClientByID returns a client of any account, erased ones too, or tenant.ErrNotFound.
	ClientByID(ctx context.Context, clientID id.ID) (tenant.Client, error)
	ClientsByEmail(ctx context.Context, email string, limit int) ([]tenant.Client, error)
}
