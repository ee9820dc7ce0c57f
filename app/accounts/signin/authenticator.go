package signin

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

const tokenBytes = 32

// SignedIn is an operator with a new session. The token goes to the browser; the database keeps only its hash. Half is
// set instead of Token where a code is missing: the token of a half sign-in.
type SignedIn struct {
	Operator connect.Operator
	Account  connect.Account
	Token    secret.Text
	Half     secret.Text
	Lifetime time.Duration
}

// Browser is the origin of a sign-in.
type Browser struct {
	Session string // token of the browser's session, which the sign-in ends; "": none
	Network string // IPv4 address or IPv6 /64 of the client; "": unknown, and never kept
	Name    string // program and system, as "Firefox, Linux"; "": not known
}

// Authenticator checks passwords and begins sessions.
type Authenticator struct {
	UnitOfWork  ports.UnitOfWork
	Operators   accountports.Operators
	Sessions    accountports.Sessions
	Requests    accountports.Tokens // for a new password
	TwoFactors  accountports.TwoFactors
	HalfSignIns accountports.HalfSignIns
	Passwords   accountports.Passwords
	Entropy     ports.Entropy
	Limiter     ports.Limiter
}

// networkHash binds a network to an operator, so that the database shows neither addresses nor shared networks.
func networkHash(o connect.Operator, network string) [32]byte {
	return sha256.Sum256([]byte(id.Operator.Of(o.ID) + " " + network))
}

// newToken makes the token of a session or of a mail.
func newToken(entropy ports.Entropy) (token secret.Text, hash [32]byte) {
	token = secret.Text(base64.RawURLEncoding.EncodeToString(entropy.Bytes(tokenBytes)))
	hash, _ = TokenHash(token.Reveal())
	return token, hash
}

// TokenHash gives the SHA-256 by which a session, or the token of a mail, is stored and found. ok is false for text
// that cannot be a token.
func TokenHash(token string) (hash [32]byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
