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

// AuthenticationResult is an operator with a new session. The session's token goes to the browser; the database stores
// only its hash. When the two-factor code is still missing, Half, the token of a half sign-in, is set instead
// of Token.
type AuthenticationResult struct {
	Operator connect.Operator
	Account  connect.Account
	Token    secret.Text
	Half     secret.Text
	Lifetime time.Duration
}

// Browser describes the browser and network from which an operator signs in.
type Browser struct {
	Session string // The token of the browser's earlier session, which the sign-in ends; "" for none.
	// The IPv4 address or IPv6 /64 network of the client; "" when unknown, which is never stored.
	Network string
	Name    string // The browser and system, such as "Firefox, Linux"; "" when unknown.
}

// Authenticator checks operators' passwords and begins their sessions.
type Authenticator struct {
	UnitOfWork  ports.UnitOfWork
	Operators   accountports.OperatorStore
	Sessions    accountports.SessionStore
	Requests    accountports.MailTokenStore // The store of requests for a new password.
	TwoFactors  accountports.TwoFactorStore
	HalfSignIns accountports.HalfSignInStore
	Passwords   accountports.PasswordHasher
	Entropy     ports.Entropy
	Limiter     ports.Limiter
}

// networkHash returns a hash of a network and an operator together, so that the database reveals neither
// addresses nor which operators share a network.
func networkHash(o connect.Operator, network string) [32]byte {
	return sha256.Sum256([]byte(id.Operator.Of(o.ID) + " " + network))
}

// newToken returns a random token for a session or a mailed link, with the hash under which it is stored.
func newToken(entropy ports.Entropy) (token secret.Text, hash [32]byte) {
	token = secret.Text(base64.RawURLEncoding.EncodeToString(entropy.Bytes(tokenBytes)))
	hash, _ = TokenHash(token.Reveal())
	return token, hash
}

// TokenHash returns the SHA-256 under which the token of a session or of a mail is stored. ok is false for
// text that cannot be a token.
func TokenHash(token string) (hash [32]byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
