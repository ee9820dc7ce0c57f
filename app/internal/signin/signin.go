// Package signin makes operators and their sessions. Signing up and logging in go through it, whether a partner sent the
// operator or not.
package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// SessionLasts is how long a session lasts from its beginning, however busy it is.
const SessionLasts = 14 * 24 * time.Hour

const tokenBytes = 32

// SignedIn is an operator with a fresh session. Token goes to the browser and is kept nowhere.
type SignedIn struct {
	Operator connect.Operator
	Account  connect.Account
	Token    secret.Text
	Lasts    time.Duration
}

// Door checks who may come in.
type Door struct {
	Operators ports.OperatorReader
	Passwords ports.Passwords
	Entropy   ports.Entropy
}

// NewOperator makes an operator and its account from a form, hashing the password. Nothing is stored.
//
// Returns what connect.SignUp.Validate returns, or service_unavailable.
func (d Door) NewOperator(ctx context.Context, form connect.SignUp, now time.Time) (connect.Operator, connect.Account, error) {
	if err := form.Validate(); err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	hash, err := d.Passwords.Hash(ctx, form.Password)
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	o := connect.Operator{ID: d.Entropy.NewID(), Email: form.Email, PasswordHash: hash, CreatedAt: now}
	a := connect.Account{ID: d.Entropy.NewID(), OperatorID: o.ID, CompanyName: form.CompanyName, CreatedAt: now}
	return o, a, nil
}

// Authenticate finds an operator by e-mail and password. An unknown e-mail takes as long as a wrong password.
//
// Returns connect.ErrBadCredentials for either.
func (d Door) Authenticate(ctx context.Context, email, password string) (connect.Operator, connect.Account, error) {
	o, a, err := d.find(ctx, email)
	if err != nil && !errors.Is(err, connect.ErrBadCredentials) {
		return o, a, err
	}
	matches, err := d.Passwords.Matches(ctx, password, o.PasswordHash)
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	if !matches {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return o, a, nil
}

// find does not ask the database for what can be no address: it may hold bytes that a database refuses.
func (d Door) find(ctx context.Context, email string) (connect.Operator, connect.Account, error) {
	if !mailaddr.Valid(email) {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	o, a, err := d.Operators.OperatorByEmail(ctx, email)
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	return o, a, nil
}

// Begin stores a new session in place of the one that the browser had ("": none): a token known before the log-in is
// worth nothing after it.
func (d Door) Begin(ctx context.Context, repos ports.Repositories, o connect.Operator, a connect.Account, replaced string, now time.Time) (SignedIn, error) {
	if hash, ok := TokenHash(replaced); ok {
		if err := repos.Operators.DeleteSession(ctx, hash); err != nil {
			return SignedIn{}, err
		}
	}
	token := base64.RawURLEncoding.EncodeToString(d.Entropy.Bytes(tokenBytes))
	hash, _ := TokenHash(token)
	session := ports.Session{TokenHash: hash, OperatorID: o.ID, CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(SessionLasts)}
	if err := repos.Operators.InsertSession(ctx, session); err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Operator: o, Account: a, Token: secret.Text(token), Lasts: SessionLasts}, nil
}

// TokenHash is what a session is found by. ok is false for what can be no token.
func TokenHash(token string) (hash [32]byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}
