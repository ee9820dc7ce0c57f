package ports

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// PasswordRequest asks for a mail with a link that sets a password. Nobody has checked that the address is an
// operator's.
type PasswordRequest struct {
	ID        id.ID
	Email     string
	Locale    string // language of the page
	CreatedAt time.Time
	LockedOut bool // nobody asked: too many wrong passwords were tried
}

// Session is a signed-in operator. Only the hash of the session token is stored.
type Session struct {
	TokenHash  [32]byte
	OperatorID id.ID
	Browser    string // program and system of the sign-in, as "Firefox, Linux"; "": not known
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// NetworksKeptFor is counted from the last sign-in of an operator from a network.
const NetworksKeptFor = 90 * 24 * time.Hour

// LinkedAccount is a link, with the details of the account that the partner may see.
type LinkedAccount struct {
	connect.Link
	MaxAmountCents money.Cents // the ceiling; the default, if none was negotiated
}

// LinkFilter narrows a list of links.
type LinkFilter struct {
	Status     connect.LinkStatus // "": every status
	ExternalID string             // "": every external id
}

// Passwords hashes and checks passwords. Both are slow on purpose; an implementation bounds the number of concurrent
// calls.
type Passwords interface {
	Hash(ctx context.Context, password string, who Turn) (string, error)
	// Matches reports whether hash is the hash of password. An empty hash never matches and takes as long as any other,
	// so that the time of an answer does not tell whether an address is known.
	Matches(ctx context.Context, password, hash string, who Turn) (bool, error)
}

// Turn tells who waits for a password to be hashed: a burst of strangers does not hold operators up (api.md §1, "Rate
// limits").
type Turn struct {
	Network string // IPv4 address or IPv6 /64 of the client; "": unknown
	Known   bool   // the operator is known already: signed in from this network before, has a session, or opened a mail of ours
}

// Operators keeps operators and their accounts.
type Operators interface {
	// Insert adds an operator and the account of the operator. Returns connect.ErrEmailTaken.
	Insert(ctx context.Context, o connect.Operator, a connect.Account) error
	// Lock gives an operator, whom no other transaction then changes or locks. Returns connect.ErrBadCredentials for an
	// unknown id.
	Lock(ctx context.Context, operatorID id.ID) (connect.Operator, error)
	// Update stores everything of an operator but id and time of creation. Returns connect.ErrEmailTaken.
	Update(ctx context.Context, o connect.Operator) error
	// SetCeiling sets the maximum amount of an account; 0 restores the default. Returns connect.ErrAccountNotFound.
	SetCeiling(ctx context.Context, accountID id.ID, maxAmount money.Cents) error
	// SetCompany renames an account. Returns connect.ErrAccountNotFound.
	SetCompany(ctx context.Context, accountID id.ID, name string) error
	SetCoverMails(ctx context.Context, operatorID id.ID, wanted bool) error
	// WantsCoverMails reports whether an operator gets mails about covers that end.
	WantsCoverMails(ctx context.Context, operatorID id.ID) (bool, error)
	// OperatorByEmail compares addresses in the form of mailaddr.Normal. Returns connect.ErrBadCredentials.
	OperatorByEmail(ctx context.Context, email string) (connect.Operator, connect.Account, error)
	// AccountByID returns connect.ErrAccountNotFound.
	AccountByID(ctx context.Context, accountID id.ID) (connect.Account, connect.Operator, error)
	// Accounts lists the newest accounts first.
	Accounts(ctx context.Context, page Page) (List[connect.Account], error)
	// AccountOfOperator returns connect.ErrAccountNotFound.
	AccountOfOperator(ctx context.Context, operatorID id.ID) (id.ID, error)
}

// Sessions keeps sessions, and the networks from which they began. idle is the time without use after which a session
// ends.
type Sessions interface {
	InsertSession(ctx context.Context, s Session) error
	// DeleteSession ends a session. An unknown session is no error.
	DeleteSession(ctx context.Context, tokenHash [32]byte) error
	// DeleteSessionsOf ends every session of an operator, and returns the number.
	DeleteSessionsOf(ctx context.Context, operatorID id.ID) (int, error)
	// RecordNetwork keeps that the operator signed in from a network, and forgets networks unused since at less
	// NetworksKeptFor.
	RecordNetwork(ctx context.Context, operatorID id.ID, network [32]byte, at time.Time) error
	// DeleteExpiredSessions removes up to limit sessions that ended before at, and returns the number.
	DeleteExpiredSessions(ctx context.Context, at time.Time, limit int) (int, error)
	// OperatorBySession returns connect.ErrBadCredentials for an unknown or ended session. OperatorBySession updates
	// LastSeenAt from time to time.
	OperatorBySession(ctx context.Context, tokenHash [32]byte, now time.Time, idle time.Duration) (connect.Operator, connect.Account, error)
	// Sessions gives the sessions of an operator that have not ended, the last used first, limit at most.
	Sessions(ctx context.Context, operatorID id.ID, now time.Time, idle time.Duration, limit int) ([]Session, error)
	// NetworkKnown reports whether the operator signed in from a network within NetworksKeptFor before now.
	NetworkKnown(ctx context.Context, operatorID id.ID, network [32]byte, now time.Time) (bool, error)
}

// Tokens keeps the tokens of mails, and the requests for a new password.
type Tokens interface {
	InsertToken(ctx context.Context, t connect.Token) error
	// Token gives a token that was not used and has not expired. Returns connect.ErrTokenVoid.
	Token(ctx context.Context, hash [32]byte, now time.Time) (connect.Token, error)
	// UseTokens makes the unused tokens of an operator of these kinds void.
	UseTokens(ctx context.Context, operatorID id.ID, at time.Time, kinds ...connect.TokenKind) error
	// DeleteExpiredTokens removes up to limit tokens that expired before at, and returns the number.
	DeleteExpiredTokens(ctx context.Context, at time.Time, limit int) (int, error)
	// CountTokens counts the tokens of a kind since a time, used ones too.
	CountTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind, since time.Time) (int, error)
	// CountLiveTokens counts the tokens of a kind that work.
	CountLiveTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind, now time.Time) (int, error)
	// TokenByHash is Tokens.Token, with the operator as the store has it now.
	TokenByHash(ctx context.Context, hash [32]byte, now time.Time) (connect.Token, connect.Operator, error)
	// InsertPasswordRequest notes that somebody asked for a new password, or is locked out.
	InsertPasswordRequest(ctx context.Context, r PasswordRequest) error
	// TakePasswordRequests removes up to limit requests, oldest first, and gives them. No other transaction gets them.
	TakePasswordRequests(ctx context.Context, limit int) ([]PasswordRequest, error)
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
	OfPartner(ctx context.Context, partnerID, accountID id.ID) (LinkedAccount, error)
	// LastRevoked gives the time of the last revocation of a partner's external id, whichever account was linked; zero
	// for none. In a transaction it sees the inserts before.
	LastRevoked(ctx context.Context, partnerID id.ID, externalID string) (time.Time, error)
	// Revoke ends the active link. changed is false if there was no active link.
	Revoke(ctx context.Context, partnerID, accountID id.ID, by connect.RevokedBy, at time.Time) (changed bool, err error)
	// LinkedAccounts lists links by LinkedAt, newest first. The time in the cursor is LinkedAt.
	LinkedAccounts(ctx context.Context, partnerID id.ID, f LinkFilter, page Page) (List[LinkedAccount], error)
	// LinkedAccount returns connect.ErrAccountNotFound.
	LinkedAccount(ctx context.Context, partnerID, accountID id.ID) (LinkedAccount, error)
	// ActiveLink gives the active link of an account; nil for none.
	ActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error)
	// ActiveLinkOf gives the active link of a partner's external id; nil for none.
	ActiveLinkOf(ctx context.Context, partnerID id.ID, externalID string) (*connect.Link, error)
}
