// Package signin creates operators, checks their passwords and two-factor codes, and begins their sessions.
package signin

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/mailaddr"
	accountports "partnerdeposits/ports/accounts"
)

// NewOperator builds an operator and an account from the sign-up form, for the caller to store.
//
// Returns the errors of connect.SignUp.Validate, or service_unavailable.
func (au Authenticator) NewOperator(ctx context.Context, form connect.SignUpForm, from Browser,
	now time.Time) (connect.Operator, connect.Account, error) {
	if err := form.Validate(); err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	hash, err := au.Passwords.Hash(ctx, form.Password, accountports.PasswordCaller{Network: from.Network})
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	o := connect.Operator{ID: au.Entropy.NewID(), Email: form.Email, PasswordHash: hash, Locale: form.Locale,
		CreatedAt: now}
	a := connect.Account{ID: au.Entropy.NewID(), OperatorID: o.ID, CompanyName: form.CompanyName, CreatedAt: now}
	return o, a, nil
}

// Authenticate returns the operator of an e-mail and password; unknown e-mails take as long as wrong passwords.
//
// Returns connect.ErrBadCredentials, rate_limited after too many failures of the e-mail, or service_unavailable.
func (au Authenticator) Authenticate(ctx context.Context, email, password string, from Browser,
	now time.Time) (connect.Operator, connect.Account, error) {
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
	matches, err := au.Passwords.Matches(ctx, password, o.PasswordHash,
		accountports.PasswordCaller{Network: from.Network, Known: known})
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

// knows reports whether the operator has signed in from this network. The same query runs for unknown e-mails, so
// that the time reveals nothing.
func (au Authenticator) knows(ctx context.Context, o connect.Operator, from Browser, now time.Time) (bool, error) {
	if from.Network == "" {
		return false, nil
	}
	return au.Sessions.NetworkKnown(ctx, o.ID, networkHash(o, from.Network), now)
}

// find returns the operator with an e-mail address. An invalid address is not looked up: Postgres may refuse its
// bytes.
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
