package accounts

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
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
