// Package signin creates operators and begins their sessions. Sign-up and log-in use it both with a partner's connect URL
// (app/accounts/connections) and without (app/accounts/operators).
package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// failuresPerHour is the number of failed log-ins of an e-mail, from all networks together, after which only networks that
// signed in before may try (api.md §1, "Rate limits").
const failuresPerHour = 100

// SessionLifetime is counted from the session's start. Use does not prolong a session. A session that nobody uses ends earlier
// (SESSION_IDLE).
const SessionLifetime = 14 * 24 * time.Hour

const tokenBytes = 32

// SignedIn is an operator with a new session. The token goes to the browser; the database keeps only its hash. Half is set instead of
// Token where a code is missing: the token of a half sign-in.
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
	Operators   ports.Operators
	Sessions    ports.Sessions
	Requests    ports.Tokens // for a new password
	TwoFactors  ports.TwoFactors
	HalfSignIns ports.HalfSignIns
	Passwords   ports.Passwords
	Entropy     ports.Entropy
	Limiter     ports.Limiter
}

// NewOperator builds an operator and an account from the sign-up form and hashes the password. The caller stores both.
//
// Returns the errors of connect.SignUp.Validate, or service_unavailable.
func (au Authenticator) NewOperator(ctx context.Context, form connect.SignUp, from Browser, now time.Time) (connect.Operator, connect.Account, error) {
	if err := form.Validate(); err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	hash, err := au.Passwords.Hash(ctx, form.Password, ports.Turn{Network: from.Network})
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	o := connect.Operator{ID: au.Entropy.NewID(), Email: form.Email, PasswordHash: hash, Locale: form.Locale, CreatedAt: now}
	a := connect.Account{ID: au.Entropy.NewID(), OperatorID: o.ID, CompanyName: form.CompanyName, CreatedAt: now}
	return o, a, nil
}

// Authenticate finds an operator by e-mail and password. An unknown e-mail takes as long as a wrong password.
//
// Returns connect.ErrBadCredentials for an unknown e-mail and for a wrong password, rate_limited after too many failures of
// the e-mail, or service_unavailable.
func (au Authenticator) Authenticate(ctx context.Context, email, password string, from Browser, now time.Time) (connect.Operator, connect.Account, error) {
	o, a, err := au.find(ctx, email)
	if err != nil && !errors.Is(err, connect.ErrBadCredentials) {
		return o, a, err
	}
	known, err := au.knows(ctx, o, from, now)
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	harmless, err := au.countFailure(ctx, email, o, known, now)
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	matches, err := au.Passwords.Matches(ctx, password, o.PasswordHash, ports.Turn{Network: from.Network, Known: known})
	if err != nil || matches {
		harmless()
	}
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	if !matches {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return o, a, nil
}

// knows reports whether o signed in from this network before. o is zero for an unknown e-mail, which costs the same query: the time of an
// answer does not tell which addresses are known.
func (au Authenticator) knows(ctx context.Context, o connect.Operator, from Browser, now time.Time) (bool, error) {
	if from.Network == "" {
		return false, nil
	}
	return au.Sessions.NetworkKnown(ctx, o.ID, networkHash(o, from.Network), now)
}

// countFailure counts a log-in as failed before its password is checked, so that attempts at the same time cannot pass the
// limit together. harmless takes the count back. A new password begins a new count, since the count's key has a hash of the password's
// hash.
//
// o is zero for an unknown e-mail. Returns rate_limited unless the network is known.
func (au Authenticator) countFailure(
	ctx context.Context, email string, o connect.Operator, known bool, now time.Time,
) (harmless func(), err error) {
	sum := sha256.Sum256([]byte(mailaddr.Normal(email) + " " + o.PasswordHash))
	rule := ports.LimitRule{Name: "auth-failures", Key: "auth:email:" + hex.EncodeToString(sum[:16]), PerHour: failuresPerHour}
	decision := au.Limiter.Allow(ctx, rule)
	if decision.Allowed {
		return func() { au.Limiter.Refund(ctx, rule) }, nil
	}
	refused := lockedOut(decision, known)
	if refused != nil {
		if err := au.tellLockedOut(ctx, email, rule.Key, now); err != nil {
			return nil, err
		}
	}
	return func() {}, refused
}

// tellLockedOut asks for a mail that tells the owner of an address of the limit, with a link that sets a password: once an hour. The
// dispatcher looks whether the address is known, as after ForgotPassword, so that the answer here takes as long for every address.
func (au Authenticator) tellLockedOut(ctx context.Context, email, key string, now time.Time) error {
	once := ports.LimitRule{Name: "auth-locked-out", Key: key, PerHour: 1}
	if !mailaddr.Valid(email) || !au.Limiter.Allow(ctx, once).Allowed {
		return nil
	}
	r := ports.PasswordRequest{ID: au.Entropy.NewID(), Email: email, CreatedAt: now, LockedOut: true}
	return au.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return au.Requests.InsertPasswordRequest(ctx, r)
	})
}

// lockedOut refuses a log-in beyond the limit of failures. known tells that the operator signed in from this network before.
func lockedOut(decision ports.LimitDecision, known bool) error {
	if decision.Allowed || known {
		return nil
	}
	return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
}

// networkHash binds a network to an operator, so that the database shows neither addresses nor shared networks.
func networkHash(o connect.Operator, network string) [32]byte {
	return sha256.Sum256([]byte(id.Operator.Of(o.ID) + " " + network))
}

// find queries the database for valid addresses only: an invalid address may contain bytes that Postgres refuses.
func (au Authenticator) find(ctx context.Context, email string) (connect.Operator, connect.Account, error) {
	if !mailaddr.Valid(email) {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	o, a, err := au.Operators.OperatorByEmail(ctx, email)
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	return o, a, nil
}

// BeginSession stores a new session and the network of the browser, and deletes the browser's former session, so that a
// session token planted in the browser before log-in is worthless afterwards.
//
// Returns connect.ErrBadCredentials if the password was changed since o was read.
func (au Authenticator) BeginSession(ctx context.Context, o connect.Operator, a connect.Account, from Browser, now time.Time) (SignedIn, error) {
	current, err := au.Operators.Lock(ctx, o.ID)
	if err != nil {
		return SignedIn{}, err
	}
	if err := samePassword(current, o); err != nil {
		return SignedIn{}, err
	}
	if hash, ok := TokenHash(from.Session); ok {
		if err := au.Sessions.DeleteSession(ctx, hash); err != nil {
			return SignedIn{}, err
		}
	}
	if err := au.RememberNetwork(ctx, o, from, now); err != nil {
		return SignedIn{}, err
	}
	token, hash := newToken(au.Entropy)
	if err := au.Sessions.InsertSession(ctx, newSession(hash, o.ID, from, now)); err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Operator: current, Account: a, Token: token, Lifetime: SessionLifetime}, nil
}

// RememberNetwork keeps the network of a browser as one of the operator's, from which the operator logs in whatever others try.
func (au Authenticator) RememberNetwork(ctx context.Context, o connect.Operator, from Browser, now time.Time) error {
	if from.Network == "" {
		return nil
	}
	return au.Sessions.RecordNetwork(ctx, o.ID, networkHash(o, from.Network), now)
}

// samePassword refuses a session for a password that was changed since it was checked.
func samePassword(current, checked connect.Operator) error {
	if current.PasswordHash != checked.PasswordHash {
		return connect.ErrBadCredentials
	}
	return nil
}

func newSession(hash [32]byte, operatorID id.ID, from Browser, now time.Time) ports.Session {
	return ports.Session{
		TokenHash: hash, OperatorID: operatorID, Browser: from.Name, CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(SessionLifetime),
	}
}

// newToken makes the token of a session or of a mail.
func newToken(entropy ports.Entropy) (token secret.Text, hash [32]byte) {
	token = secret.Text(base64.RawURLEncoding.EncodeToString(entropy.Bytes(tokenBytes)))
	hash, _ = TokenHash(token.Reveal())
	return token, hash
}

// TokenHash gives the SHA-256 by which a session, or the token of a mail, is stored and found. ok is false for text that cannot be a token.
func TokenHash(token string) (hash [32]byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
