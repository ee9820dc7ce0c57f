package ports

import (
	"context"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Faults of Idempotency-Key (api.md §1, "Idempotency").
var (
	ErrInvalidKey = fault.New(fault.Invalid, "invalid_idempotency_key", "Idempotency-Key must be a UUID v4.")
	ErrKeyInUse   = fault.New(fault.Conflict, "idempotency_key_in_use", "A request with this Idempotency-Key is still running. Retry shortly.").WithRetryAfter(time.Second)
	ErrKeyReused  = fault.New(fault.Unprocessable, "idempotency_key_reused", "This Idempotency-Key was used with another request body.")
)

// IdempotencyWindow is how long a response is replayed (service.md, "Limits").
const IdempotencyWindow = 24 * time.Hour

// IdempotencyKey is one keyed request. It survives a rotation of API keys: its scope is the partner, not the key.
type IdempotencyKey struct {
	PartnerID   id.ID
	Route       string // method and path, ids included
	Key         [16]byte
	Fingerprint [32]byte // SHA-256 of the canonical JSON of the body
	Holder      id.ID    // this very request: it takes off its own mark in the cache, never another's
}

// StoredResponse is a success as it was sent.
type StoredResponse struct {
	Fingerprint [32]byte
	Status      int
	Body        []byte
	CreatedAt   time.Time
}

// IdempotencyRepository is the truth: claimed and stored in the transaction of the effect.
type IdempotencyRepository interface {
	// Claim takes the key for this transaction. A stored response younger than the window comes back (nil: none, go on).
	// Returns ErrKeyInUse while another transaction holds the key, without waiting for it.
	Claim(ctx context.Context, k IdempotencyKey, now time.Time) (*StoredResponse, error)
	// Store keeps the response of a claimed key, encrypted.
	Store(ctx context.Context, k IdempotencyKey, r StoredResponse) error
	// DeleteExpired removes up to limit responses created before at.
	DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error)
}

// IdempotencyCache is the fast path in Redis: it may forget anything at any time and then costs only time.
// No method fails: without Redis, Begin says "go on".
type IdempotencyCache interface {
	// Begin gives the cached response, or marks the key as running. Returns ErrKeyInUse while it is marked.
	Begin(ctx context.Context, k IdempotencyKey) (*StoredResponse, error)
	// Finish caches the response and takes the mark off; r nil (refused or failed) only takes the mark off.
	Finish(ctx context.Context, k IdempotencyKey, r *StoredResponse)
}
