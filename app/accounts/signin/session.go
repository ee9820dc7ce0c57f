package signin

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	accountports "partnerdeposits/ports/accounts"
)

// SessionLifetime is the longest life of a session; use does not prolong it, and an unused one ends earlier
// (SESSION_IDLE).
const SessionLifetime = 14 * 24 * time.Hour

// BeginSession stores a new session and deletes the browser's former one, so that a token planted before log-in is
// worthless.
//
// Returns connect.ErrBadCredentials if the password was changed since o was read.
func (au Authenticator) BeginSession(ctx context.Context, o connect.Operator, a connect.Account, from Browser,
	now time.Time) (AuthenticationResult, error) {
	current, err := au.Operators.LockRow(ctx, o.ID)
	if err != nil {
		return AuthenticationResult{}, err
	}
	if err := samePassword(current, o); err != nil {
		return AuthenticationResult{}, err
	}
	if hash, ok := TokenHash(from.Session); ok {
		if err := au.Sessions.DeleteSession(ctx, hash); err != nil {
			return AuthenticationResult{}, err
		}
	}
	if err := au.RememberNetwork(ctx, o, from, now); err != nil {
		return AuthenticationResult{}, err
	}
	token, hash := newToken(au.Entropy)
	if err := au.Sessions.InsertSession(ctx, newSession(hash, o.ID, from, now)); err != nil {
		return AuthenticationResult{}, err
	}
	return AuthenticationResult{Operator: current, Account: a, Token: token, Lifetime: SessionLifetime}, nil
}

// RememberNetwork stores a known network, from which the operator can log in even after too many failures of
// others.
func (au Authenticator) RememberNetwork(ctx context.Context, o connect.Operator, from Browser, now time.Time) error {
	if from.Network == "" {
		return nil
	}
	return au.Sessions.RecordNetwork(ctx, o.ID, networkHash(o, from.Network), now)
}

func newSession(hash [32]byte, operatorID id.ID, from Browser, now time.Time) accountports.Session {
	return accountports.Session{
		TokenHash: hash, OperatorID: operatorID, Browser: from.Name, CreatedAt: now, LastSeenAt: now,
		ExpiresAt: now.Add(SessionLifetime),
	}
}

// samePassword returns ErrBadCredentials if the password was changed since it was checked.
func samePassword(current, checked connect.Operator) error {
	if current.PasswordHash != checked.PasswordHash {
		return connect.ErrBadCredentials
	}
	return nil
}
