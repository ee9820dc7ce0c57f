// Package idempotent makes a request that carries an Idempotency-Key happen once (api.md §1, "Idempotency").
//
//	cache: Begin ─▶ prepare ─▶ transaction: Claim ─▶ effect ─▶ render ─▶ Store ─▶ commit ─▶ cache: Finish
//
// The truth is in Postgres: key, fingerprint and the exact bytes of the response are written in the transaction of the
// effect. The cache saves the way there and tells a second request early that the first one still runs; it may forget
// anything at any time. Only successes are kept: a request that was refused has done nothing and leaves its key free.
package idempotent
