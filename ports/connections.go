package ports

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// OperatorRepository writes operators, their account and their sessions.
type OperatorRepository interface {
	// Insert adds an operator with its account. Returns connect.ErrEmailTaken.
	Insert(ctx context.Context, o connect.Operator, a connect.Account) error
	InsertSession(ctx context.Context, s Session) error
	// DeleteSession ends a session; it is no error where there is none.
	DeleteSession(ctx context.Context, tokenHash [32]byte) error
	// SetCeiling sets an account's maximum; 0 goes back to the default. Returns connect.ErrAccountNotFound.
	SetCeiling(ctx context.Context, accountID id.ID, maxAmount money.Cents) error
	// DeleteExpiredSessions removes up to limit sessions that ended before at.
	DeleteExpiredSessions(ctx context.Context, at time.Time, limit int) (int, error)
}

// Session is a signed-in operator. Only the hash of its token is kept.
type Session struct {
	TokenHash  [32]byte
	OperatorID id.ID
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// OperatorReader reads operators and accounts outside transactions.
type OperatorReader interface {
	// OperatorByEmail finds by mailaddr.Normal of the address. Returns connect.ErrBadCredentials.
	OperatorByEmail(ctx context.Context, email string) (connect.Operator, connect.Account, error)
	// OperatorBySession returns connect.ErrBadCredentials for an unknown or expired session, and moves last_seen_at now and then.
	OperatorBySession(ctx context.Context, tokenHash [32]byte, now time.Time) (connect.Operator, connect.Account, error)
	// AccountByID returns connect.ErrAccountNotFound.
	AccountByID(ctx context.Context, accountID id.ID) (connect.Account, connect.Operator, error)
	// Accounts lists the newest accounts first.
	Accounts(ctx context.Context, page Page) (List[connect.Account], error)
}

// LinkRepository writes links.
type LinkRepository interface {
	// Insert adds an active link. Returns connect.ErrAlreadyLinked or connect.ErrExternalIDConflict when another link
	// won: the unique indexes decide. The transaction stays usable (the insert ran inside a savepoint or ON CONFLICT).
	Insert(ctx context.Context, l connect.Link) error
	// ActiveOfAccount gives the account's link, locked; nil where it has none.
	ActiveOfAccount(ctx context.Context, accountID id.ID) (*connect.Link, error)
	// OfPartner gives the newest link between the two, active or revoked, share-locked so that it cannot be revoked
	// before the transaction ends. Returns connect.ErrAccountNotLinked.
	OfPartner(ctx context.Context, partnerID, accountID id.ID) (LinkedAccount, error)
	// Revoke ends the active link. changed is false where there was none.
	Revoke(ctx context.Context, partnerID, accountID id.ID, by connect.RevokedBy, at time.Time) (changed bool, err error)
}

// LinkedAccount is a link with what the partner may know of the account.
type LinkedAccount struct {
	connect.Link
	MaxAmountCents money.Cents // the resolved ceiling
}

// LinkFilter narrows a list of links.
type LinkFilter struct {
	Status     connect.LinkStatus // "": all
	ExternalID string             // "": all
}

// LinkReader reads links outside transactions. Of one account and partner only the newest link counts.
type LinkReader interface {
	// LinkedAccounts lists by linkedAt, newest first; the cursor's time is linkedAt.
	LinkedAccounts(ctx context.Context, partnerID id.ID, f LinkFilter, page Page) (List[LinkedAccount], error)
	// LinkedAccount returns connect.ErrAccountNotFound.
	LinkedAccount(ctx context.Context, partnerID, accountID id.ID) (LinkedAccount, error)
	// ActiveLink gives the account's link; nil where it has none.
	ActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error)
}

// Passwords hashes and checks passwords; both are slow on purpose and bounded in how many run at once.
type Passwords interface {
	Hash(ctx context.Context, password string) (string, error)
	// Matches compares; an empty hash costs the same time and never matches, so that unknown addresses cannot be told by the clock.
	Matches(ctx context.Context, password, hash string) (bool, error)
}
