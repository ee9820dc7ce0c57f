package platform

import (
	"context"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Faults that refuse a request because of its Idempotency-Key (api.md §1, "Idempotency").
var (
	ErrInvalidIdempotencyKey = fault.New(fault.Invalid, "invalid_idempotency_key", "Idempotency-Key must be a UUID v4.")
	ErrIdempotencyKeyInUse   = fault.New(fault.Conflict, "idempotency_key_in_use",
		"A request with this Idempotency-Key is still running. Retry shortly.").WithRetryAfter(time.Second)
	ErrIdempotencyKeyReused = fault.New(fault.Unprocessable, "idempotency_key_reused",
		"This Idempotency-Key was used with another request body.")
)

// IdempotencyWindow is how long a stored response is replayed (service.md, "Limits").
const IdempotencyWindow = 24 * time.Hour

// IdempotencyKey is an Idempotency-Key with the request that carries it, or an operator's form with its key. The
// owner is the partner, not the API key, so the key outlives a change of API keys.
type IdempotencyKey struct {
	Owner       id.ID
	Route       string
	Key         [16]byte
	Fingerprint [32]byte
	// The id of the restore epoch when the request began: the time between two restores of the database from a
	// backup; zero: the cache is not used.
	Epoch RestoreEpoch

	// The response that the Redis cache holds for the idempotency key; nil: none. Its fingerprint and its age have
	// not been checked yet.
	Cached *StoredResponse
}

// StoredResponse is a successful response, byte by byte, as it is stored for an idempotency key.
type StoredResponse struct {
	Fingerprint [32]byte
	Code        int // The response code, whose meaning the use case chooses (idempotent.Response); 0: none.
	Body        []byte
	CreatedAt   time.Time
}

// IdempotencyCache is the cache of stored responses in Redis, for quick replays. Responses from before a restore
// of the database from a backup are not found, since the restore may have undone their effect.
type IdempotencyCache interface {
	// LookUp returns the response that this process has cached for a request's Idempotency-Key; nil if there is none,
	// also where only another process has cached one.
	LookUp(ctx context.Context, k IdempotencyKey) *StoredResponse
	// Store caches a committed response for its idempotency key. It returns before the response is in the cache.
	Store(k IdempotencyKey, r StoredResponse)
}

// IdempotencyStore stores the responses of idempotency keys durably. The methods Claim and Store run in the
// transaction of the request's effect.
type IdempotencyStore interface {
	// ClaimKey takes an idempotency key until the transaction ends, and returns its stored response if it is younger
	// than IdempotencyWindow, or nil. Returns ErrIdempotencyKeyInUse, without waiting, while another transaction
	// holds a key without a response.
	ClaimKey(ctx context.Context, k IdempotencyKey, now time.Time) (*StoredResponse, error)
	// StoreResponse stores the response of a claimed idempotency key, encrypted. The transaction runs again if the
	// key got a response within IdempotencyWindow, since two requests must never both have their effect.
	StoreResponse(ctx context.Context, k IdempotencyKey, r StoredResponse) error
	DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error)
}
