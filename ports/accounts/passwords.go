package accounts

import (
	"context"
)

// PasswordHasher hashes and checks passwords. Both are slow on purpose; an implementation bounds the number of
// concurrent calls.
type PasswordHasher interface {
	Hash(ctx context.Context, password string, who PasswordCaller) (string, error)
	// Matches reports whether hash is the hash of password. An empty hash takes as long as any other, so that the
	// time of a response does not reveal whether an address belongs to an operator.
	Matches(ctx context.Context, password, hash string, who PasswordCaller) (bool, error)
}

// PasswordCaller describes the client whose password waits to be hashed, so that many requests of unknown clients do
// not delay operators (api.md §1, "Rate limits").
type PasswordCaller struct {
	Network string // The network of the client, an IPv4 address or an IPv6 /64 network; "": unknown.
	// Whether the operator has signed in from this network before, has a session, or opened a mail of the service.
	Known bool
}
