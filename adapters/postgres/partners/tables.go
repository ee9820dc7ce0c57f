// Package partners reads and writes the Postgres tables of partners: partners, API keys, and clients, with the
// encrypted addresses of erased clients.
package partners

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/partners/internal/sqlc"
	partnerports "partnerdeposits/ports/partners"
)

var queries = sqlc.New()

// Tables holds the stores of all tables of partners.
type Tables struct {
	Partners  Partners
	Keys      Keys
	Clients   Clients
	Addresses Addresses
}

// Stores of the tables of partners. Each implements the interface of its name in package ports/partners.
type (
	Partners struct{ pg.Base }
	Keys     struct {
		pg.Base
		cache *keyCache
		uses  *keyUses
	}
	Clients   struct{ pg.Base }
	Addresses struct{ pg.Base }
)

var (
	_ partnerports.Partners        = Partners{}
	_ partnerports.Keys            = Keys{}
	_ partnerports.Clients         = Clients{}
	_ partnerports.SealedAddresses = Addresses{}
)

// New makes the stores of the tables of partners. An API key that was read stays in a cache for keysKeptFor. Call
// Keys.Close before the database is closed.
func New(b pg.Base, keysKeptFor time.Duration) Tables {
	keys := Keys{Base: b, cache: newKeyCache(keysKeptFor, readingKeys(b.DB)), uses: newKeyUses(writingKeyUses(b.DB))}
	return Tables{Partners{b}, keys, Clients{b}, Addresses{b}}
}

// Close writes the last-used times of API keys that still wait, and stops the renewal of keys in the cache.
func (r Keys) Close(ctx context.Context) {
	r.cache.close()
	r.uses.close(ctx)
}
