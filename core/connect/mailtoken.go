package connect

import (
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
)

// Faults about addresses that are not verified, and about the links in mails.
var (
	ErrUnverified = fault.New(fault.Forbidden, "email_not_verified", "Verify your e-mail address first.")
	ErrTokenVoid  = fault.New(fault.Gone, "link_void",
		"This link does not work any more. Each link works once, and not for long.")
)

// TokenKind is the purpose of a token.
type TokenKind string

// The kinds of token.
const (
	TokenVerify      TokenKind = "verify"       // shows that an address is the operator's
	TokenChangeEmail TokenKind = "change_email" // shows so of a new address, which then replaces the old one
	TokenReset       TokenKind = "reset"        // sets a password
)

// TokenKinds lists every kind of token.
var TokenKinds = []TokenKind{TokenVerify, TokenChangeEmail, TokenReset}

// Lifetime is counted from the mail with the token.
func (k TokenKind) Lifetime() time.Duration {
	if k == TokenReset {
		return 30 * time.Minute
	}
	return 24 * time.Hour
}

// Token is the right, mailed to an address, to change the operator. A token works once.
type Token struct {
	Hash       [32]byte // SHA-256; the token itself is in the mail only
	OperatorID id.ID
	Kind       TokenKind
	Email      string // the address that the mail went to
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// Fits reports whether the token is still the operator's: the mail went to the present address, or to the one that
// replaces it.
func (t Token) Fits(o Operator) bool {
	return t.OperatorID == o.ID && (t.Kind == TokenChangeEmail || mailaddr.Normal(t.Email) == mailaddr.Normal(o.Email))
}
