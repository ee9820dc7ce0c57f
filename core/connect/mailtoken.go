package connect

import (
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
)

// Faults about e-mail addresses that are not verified, and about links in mails that no longer work.
var (
	ErrEmailUnverified = fault.New(fault.Forbidden, "email_not_verified", "Verify your e-mail address first.")
	ErrTokenVoid       = fault.New(fault.Gone, "link_void",
		"This link does not work any more. Each link works once, and not for long.")
)

// TokenKind is the purpose of a token that is mailed to an operator.
type TokenKind string

// The purposes of a token that is mailed to an operator.
const (
	TokenVerifyEmail   TokenKind = "verify"
	TokenChangeEmail   TokenKind = "change_email"
	TokenResetPassword TokenKind = "reset"
)

// TokenKinds lists every purpose of a token that is mailed to an operator.
var TokenKinds = []TokenKind{TokenVerifyEmail, TokenChangeEmail, TokenResetPassword}

// Lifetime returns for how long after its creation a mailed token of this kind works.
func (k TokenKind) Lifetime() time.Duration {
	if k == TokenResetPassword {
		return 30 * time.Minute
	}
	return 24 * time.Hour
}

// MailedToken is the stored form of a secret that is mailed to an operator to verify an address or set a password.
// It works once.
type MailedToken struct {
	Hash       [32]byte // The SHA-256 of the mailed token, which itself is in the mail only.
	OperatorID id.ID
	Kind       TokenKind
	Email      string
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// UsableBy reports whether the token was mailed to the operator's present address, or to the new one that is to
// replace it.
func (t MailedToken) UsableBy(o Operator) bool {
	return t.OperatorID == o.ID &&
		(t.Kind == TokenChangeEmail || mailaddr.Normalized(t.Email) == mailaddr.Normalized(o.Email))
}
