package signin

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/twofactor"
	accountports "partnerdeposits/ports/accounts"
)

// BeginSignIn begins a session after the right password, or a half sign-in with two-factor codes on.
func (au Authenticator) BeginSignIn(ctx context.Context, o connect.Operator, a connect.Account, from Browser,
	now time.Time) (AuthenticationResult, error) {
	f, err := au.TwoFactors.LockRow(ctx, o.ID)
	if err != nil {
		return AuthenticationResult{}, err
	}
	if !f.Enabled() {
		return au.BeginSession(ctx, o, a, from, now)
	}
	token, hash := newToken(au.Entropy)
	return AuthenticationResult{Half: token, Lifetime: twofactor.HalfSignInLifetime}, au.HalfSignIns.Insert(ctx,
		newHalf(hash, o.ID, now))
}

func newHalf(hash [32]byte, operatorID id.ID, now time.Time) accountports.HalfSignIn {
	return accountports.HalfSignIn{TokenHash: hash, OperatorID: operatorID, CreatedAt: now,
		ExpiresAt: now.Add(twofactor.HalfSignInLifetime)}
}

// HalfSignedInOperator returns the operator and account of a half sign-in, or twofactor.ErrSignInExpired.
func (c TwoFactorCodes) HalfSignedInOperator(ctx context.Context, token string,
	now time.Time) (connect.Operator, connect.Account, error) {
	hash, ok := TokenHash(token)
	if !ok {
		return connect.Operator{}, connect.Account{}, twofactor.ErrSignInExpired
	}
	return c.HalfSignIns.HalfSignedInOperator(ctx, hash, now)
}

// CompleteHalfSignIn turns a half sign-in into a session with a two-factor code; a wrong code does not end the half
// sign-in.
//
// Returns twofactor.ErrWrongCode, or ErrSignInExpired, also where codes were turned off meanwhile.
func (au Authenticator) CompleteHalfSignIn(ctx context.Context, codes TwoFactorCodes, half HalfSignInWithCode,
	now time.Time) (AuthenticationResult, error) {
	hash, ok := TokenHash(half.Token)
	if !ok {
		return AuthenticationResult{}, twofactor.ErrSignInExpired
	}
	operatorID, err := au.HalfSignIns.Take(ctx, hash, now)
	if err != nil {
		return AuthenticationResult{}, err
	}
	if operatorID != half.Operator.ID {
		return AuthenticationResult{}, twofactor.ErrSignInExpired
	}
	required, err := codes.Accept(ctx, half.Operator, half.Code, now)
	if err != nil {
		return AuthenticationResult{}, err
	}
	if !required {
		return AuthenticationResult{}, twofactor.ErrSignInExpired
	}
	return au.BeginSession(ctx, half.Operator, half.Account, half.From, now)
}

type HalfSignInWithCode struct {
	Operator connect.Operator
	Account  connect.Account
	Token    string
	Code     string
	From     Browser
}
