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

type Stores struct {
	Partners  PartnerStore
	Keys      APIKeyStore
	Clients   ClientStore
	Addresses EncryptedAddressStore
}

type (
	PartnerStore struct{ pg.StoreBase }
	APIKeyStore  struct {
		pg.StoreBase
		cache *keyCache
		uses  *keyUses
	}
	ClientStore           struct{ pg.StoreBase }
	EncryptedAddressStore struct{ pg.StoreBase }
)

var (
	_ partnerports.PartnerStore             = PartnerStore{}
	_ partnerports.APIKeyStore              = APIKeyStore{}
	_ partnerports.ClientStore              = ClientStore{}
	_ partnerports.ErasedClientAddressStore = EncryptedAddressStore{}
)

// New makes the stores of partners. An API key stays in a cache for keysKeptFor. Call Keys.Close before the
// database is closed.
func New(b pg.StoreBase, keysKeptFor time.Duration) Stores {
	keys := APIKeyStore{StoreBase: b, cache: newKeyCache(keysKeptFor, readingKeys(b.DB)),
		uses: newKeyUses(writingKeyUses(b.DB))}
	return Stores{PartnerStore{b}, keys, ClientStore{b}, EncryptedAddressStore{b}}
}

// Close writes the waiting last-used times of API keys and stops the renewal of cached keys.
func (r APIKeyStore) Close(ctx context.Context) {
	r.cache.close()
	r.uses.close(ctx)
}
