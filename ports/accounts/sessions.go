package accounts

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

// Session is the session of a signed-in operator. Only the hash of the session token is stored.
type Session struct {
	TokenHash  [32]byte
	OperatorID id.ID
	// The program and system from which the operator signed in, as "Firefox, Linux"; "": not known.
	Browser    string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// SignInNetworkRetention is how long the network of a sign-in is stored, counted from the operator's last sign-in from
// it.
const SignInNetworkRetention = 90 * 24 * time.Hour

// SessionStore stores the sessions of operators, and the networks from which they began. The parameter idle is the
// time without use after which a session ends.
type SessionStore interface {
	InsertSession(ctx context.Context, s Session) error
	// DeleteSession ends a session. An unknown session is no error.
	DeleteSession(ctx context.Context, tokenHash [32]byte) error
	DeleteSessionsOfOperator(ctx context.Context, operatorID id.ID) (int, error)
	// RecordNetwork stores that the operator signed in from a network, and deletes expired networks.
	RecordNetwork(ctx context.Context, operatorID id.ID, network [32]byte, at time.Time) error
	DeleteExpiredSessions(ctx context.Context, at time.Time, limit int) (int, error)
	// OperatorBySession returns a session's operator, with the account, or connect.ErrBadCredentials for an unknown
	// or ended session.
	OperatorBySession(ctx context.Context, tokenHash [32]byte, now time.Time,
		idle time.Duration) (connect.Operator, connect.Account, error)
	Sessions(ctx context.Context, operatorID id.ID, now time.Time, idle time.Duration, limit int) ([]Session, error)
	// NetworkKnown reports whether the operator signed in from a network within SignInNetworkRetention before now.
	NetworkKnown(ctx context.Context, operatorID id.ID, network [32]byte, now time.Time) (bool, error)
}
