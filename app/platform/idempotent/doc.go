// Package idempotent runs a request with an Idempotency-Key once, and replays its response
// (api.md §1, "Idempotency").
//
//	cache: LookUp ─▶ prepare ─▶ transaction: Claim ─▶ effect ─▶ render ─▶ Store ─▶ commit ─▶ cache: Keep
//
// Postgres decides: the key, the fingerprint and the bytes of the response commit in the transaction of the effect.
// The cache answers requests that are repeated at the same process without Postgres; it holds nothing about
// requests that are still running. Only successes are stored: a refused request has no effect and its key may be
// used again.
package idempotent
