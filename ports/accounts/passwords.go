package accounts

import (
	"context"
)

// Passwords hashes and checks passwords. Both are slow on purpose; an implementation bounds the number of concurrent
// calls.
type Passwords interface {
	Hash(ctx context.Context, password string, who Turn) (string, error)
	// Matches reports whether hash is the hash of password. An empty hash never matches and takes as long as any other,
	// so that the time of an answer does not tell whether an address is known.
	Matches(ctx context.Context, password, hash string, who Turn) (bool, error)
}

// Turn tells who waits for a password to be hashed: a burst of strangers does not hold operators up (api.md §1, "Rate
// limits").
type Turn struct {
	Network string // IPv4 address or IPv6 /64 of the client; "": unknown
	// the operator is known already: signed in from this network before, has a session, or opened a mail of ours
	Known bool
}
