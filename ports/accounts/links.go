package accounts

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// LinkFilter narrows a list of links.
type LinkFilter struct {
	Status     connect.LinkStatus // "": every status
	ExternalID string             // "": every external id
}

// Links keeps links between partners and accounts.
type Links interface {
	// Insert adds an active link. Returns connect.ErrAlreadyLinked or connect.ErrExternalIDConflict if another active
	// link exists; unique indexes decide between concurrent inserts. The transaction stays usable after such an error.
	Insert(ctx context.Context, l connect.Link) error
	// ActiveOfAccount locks and gives the active link of an account; nil for none.
	ActiveOfAccount(ctx context.Context, accountID id.ID) (*connect.Link, error)
	// OfPartner gives the newest link, active or revoked, between a partner and an account. A share lock keeps the link
	// from being revoked before the transaction ends. Returns connect.ErrAccountNotLinked.
	OfPartner(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error)
	// LastRevoked gives the time of the last revocation of a partner's external id, whichever account was linked; zero
	// for none. In a transaction it sees the inserts before.
	LastRevoked(ctx context.Context, partnerID id.ID, externalID string) (time.Time, error)
	// Revoke ends the active link. changed is false if there was no active link.
	Revoke(ctx context.Context, partnerID, accountID id.ID, by connect.RevokedBy, at time.Time) (changed bool, err error)
	// LinkedAccounts lists links by LinkedAt, newest first. The time in the cursor is LinkedAt.
	LinkedAccounts(ctx context.Context, partnerID id.ID, f LinkFilter,
		page ports.Page) (ports.List[ports.LinkedAccount], error)
	// LinkedAccount returns connect.ErrAccountNotFound.
	LinkedAccount(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error)
	// ActiveLink gives the active link of an account; nil for none.
	ActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error)
	// ActiveLinkOf gives the active link of a partner's external id; nil for none.
	ActiveLinkOf(ctx context.Context, partnerID id.ID, externalID string) (*connect.Link, error)
}
