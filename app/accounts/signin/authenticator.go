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

// AuthenticationResult is an operator with a new session, whose token is stored only as a hash. Half is set instead
// of Token when the two-factor code is still missing.
type AuthenticationResult struct {
	Operator connect.Operator
	Account  connect.Account
	Token    secret.Text
	Half     secret.Text
	Lifetime time.Duration
}

type Browser struct {
	Session string // The token of the earlier session, which the sign-in ends; "" for none.
	// The client's IPv4 address or IPv6 /64; "" when unknown, which is never stored.
	Network string
	Name    string // The browser and system, such as "Firefox, Linux"; "" when unknown.
}

type Authenticator struct {
	UnitOfWork  ports.UnitOfWork
	Operators   accountports.OperatorStore
	Sessions    accountports.SessionStore
	Requests    accountports.MailTokenStore
	TwoFactors  accountports.TwoFactorStore
	HalfSignIns accountports.HalfSignInStore
	Passwords   accountports.PasswordHasher
	Entropy     ports.Entropy
	Limiter     ports.Limiter
}

// networkHash hashes a network with its operator, so that the database does not reveal who shares a network.
func networkHash(o connect.Operator, network string) [32]byte {
	return sha256.Sum256([]byte(id.Operator.Of(o.ID) + " " + network))
}

// newToken returns a random token for a session or a mailed link, and its hash.
func newToken(entropy ports.Entropy) (token secret.Text, hash [32]byte) {
	token = secret.Text(base64.RawURLEncoding.EncodeToString(entropy.Bytes(tokenBytes)))
	hash, _ = TokenHash(token.Reveal())
	return token, hash
}

// TokenHash returns the SHA-256 of a token of a session or mail; ok is false for text that cannot be a token.
func TokenHash(token string) (hash [32]byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
