package platform

import (
	"context"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Faults of Idempotency-Key (api.md §1, "Idempotency").
var (
	ErrInvalidKey = fault.New(fault.Invalid, "invalid_idempotency_key", "Idempotency-Key must be a UUID v4.")
	ErrKeyInUse   = fault.New(fault.Conflict, "idempotency_key_in_use",
		"A request with this Idempotency-Key is still running. Retry shortly.").WithRetryAfter(time.Second)
	ErrKeyReused = fault.New(fault.Unprocessable, "idempotency_key_reused",
		"This Idempotency-Key was used with another request body.")
)

// IdempotencyWindow is how long a response is replayed (service.md, "Limits").
const IdempotencyWindow = 24 * time.Hour

// IdempotencyKey is a request with an Idempotency-Key, or an operator's form. The owner is the partner, not the API
// key, so the key outlives a rotation of API keys. The owner of a form is the operator's account.
type IdempotencyKey struct {
	Owner       id.ID
	Route       string // method and path, ids included
	Key         [16]byte
	Fingerprint [32]byte // SHA-256 of the canonical JSON of the body
	Epoch       Epoch    // of the database when the request began; zero: the cache is not used

	// Cached is the response that the cache holds for the key; nil: none. Nobody has compared its fingerprint and age
	// yet.
	Cached *StoredResponse
}

// StoredResponse is a successful response, byte by byte.
type StoredResponse struct {
	Fingerprint [32]byte
	Code        int // of the caller (idempotent.Response); 0: none
	Body        []byte
	CreatedAt   time.Time
}

// IdempotencyCache is the fast path of replays in Redis. The cache may lose anything at any time; a loss costs only
// time. Without Redis, and for a key whose Epoch is zero, the cache holds nothing. A response is found in the epoch
// alone in which its request began: a restore from a backup may have taken back the effect.
type IdempotencyCache interface {
	// Admit counts a request as Limiter.Allow does, and returns the response that this process has cached for its
	// Idempotency-Key. Returns nil without one, also where only another process has cached the response.
	Admit(ctx context.Context, k IdempotencyKey, rules ...LimitRule) (LimitDecision, *StoredResponse)
	// Keep caches a committed response, and returns before the response is cached.
	Keep(k IdempotencyKey, r StoredResponse)
}

// Idempotency stores responses durably. Claim and Store run in the transaction of the effect.
type Idempotency interface {
	// Claim takes the key until the transaction ends, and returns the stored response younger than IdempotencyWindow;
	// nil if no such response exists. A stored response is returned even if another transaction holds the key. Returns
	// ErrKeyInUse, without waiting, while another transaction holds a key without a response.
	Claim(ctx context.Context, k IdempotencyKey, now time.Time) (*StoredResponse, error)
	// Store stores the response of a claimed key, encrypted. The transaction fails and runs again if the key holds a
	// response younger than IdempotencyWindow: two requests must never both have their effect.
	Store(ctx context.Context, k IdempotencyKey, r StoredResponse) error
	// DeleteExpired removes up to limit responses created before at.
	DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error)
}
