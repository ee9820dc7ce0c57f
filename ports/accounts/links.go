package accounts

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// PartnerLinkFilter narrows a list of links between partners and accounts.
type PartnerLinkFilter struct {
	Status     connect.LinkStatus // The status of the listed links; "": every status.
	ExternalID string             // The partner's external id of the operator; "": every external id.
}

// PartnerLinkStore stores the links between partners and accounts.
type PartnerLinkStore interface {
	// Insert stores an active link. Returns connect.ErrAlreadyLinked or connect.ErrExternalIDConflict if another
	// active link exists, also for concurrent inserts. The transaction stays usable after such an error.
	Insert(ctx context.Context, l connect.Link) error
	// LockActiveLink locks and returns the active link of an account; nil if there is none.
	LockActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error)
	// LockNewestShared returns the newest link, active or revoked, between a partner and an account, or
	// connect.ErrAccountNotLinked. Until the transaction ends, the link cannot be revoked.
	LockNewestShared(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error)
	// LastRevokedAt returns the time of the last revocation of a link with a partner's external id, whichever account
	// was linked; zero for none. In a transaction it sees the inserts made before.
	LastRevokedAt(ctx context.Context, partnerID id.ID, externalID string) (time.Time, error)
	// Revoke ends the active link of a partner and an account. changed reports whether there was one.
	Revoke(ctx context.Context, partnerID, accountID id.ID, by connect.RevokedBy, at time.Time) (changed bool, err error)
	// LinkedAccounts lists the linked accounts of a partner by LinkedAt, newest first. The time in the cursor is
	// LinkedAt.
	LinkedAccounts(ctx context.Context, partnerID id.ID, f PartnerLinkFilter,
		page ports.Page) (ports.ListPage[ports.LinkedAccount], error)
	// LinkedAccount returns a linked account of a partner, or connect.ErrAccountNotFound.
	LinkedAccount(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error)
	// ActiveLink returns the active link of an account; nil if there is none.
	ActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error)
	// ActiveLinkByExternalID returns the active link with a partner's external id; nil if there is none.
	ActiveLinkByExternalID(ctx context.Context, partnerID id.ID, externalID string) (*connect.Link, error)
}
