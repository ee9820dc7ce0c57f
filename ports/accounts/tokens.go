package accounts

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

// PasswordResetRequest is a request for a mail with a link that sets a password. Its address may belong to no
// operator: nothing has checked that yet.
type PasswordResetRequest struct {
	ID        id.ID
	Email     string
	Locale    string
	CreatedAt time.Time
	LockedOut bool // Whether the service made the request, after too many wrong passwords.
}

// MailTokenStore stores the tokens of mails, and the requests for a new password.
type MailTokenStore interface {
	InsertToken(ctx context.Context, t connect.MailedToken) error
	// LiveToken returns a token that was not used and has not expired, or connect.ErrTokenVoid.
	LiveToken(ctx context.Context, hash [32]byte, now time.Time) (connect.MailedToken, error)
	// MarkTokensUsed marks an operator's unused mail tokens of the given kinds as used, so that none of them works any
	// more.
	MarkTokensUsed(ctx context.Context, operatorID id.ID, at time.Time, kinds ...connect.TokenKind) error
	DeleteExpiredTokens(ctx context.Context, at time.Time, limit int) (int, error)
	// CountTokens counts the tokens of a kind that an operator got since a time, used ones too.
	CountTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind, since time.Time) (int, error)
	CountLiveTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind, now time.Time) (int, error)
	// TokenWithOperator returns a mail token that was not used and has not expired, with its operator, or
	// connect.ErrTokenVoid.
	TokenWithOperator(ctx context.Context, hash [32]byte, now time.Time) (connect.MailedToken, connect.Operator, error)
	InsertPasswordResetRequest(ctx context.Context, r PasswordResetRequest) error
	// TakePasswordResetRequests removes and returns up to limit requests for a new password, oldest first. No other
	// transaction gets them.
	TakePasswordResetRequests(ctx context.Context, limit int) ([]PasswordResetRequest, error)
}
