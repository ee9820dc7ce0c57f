package postgres

import (
	"context"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

type clients struct{ unit }

// Insert implements ports.ClientRepository.
func (r clients) Insert(ctx context.Context, c tenant.Client) error {
	return r.q.InsertClient(ctx, r.Deferred(), sqlc.InsertClientParams{
		ID: c.ID, AccountID: c.AccountID, PartnerID: c.PartnerID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName,
		Phone: c.Phone, Locale: c.Locale, CreatedAt: c.CreatedAt,
	})
}

// OfAccount implements ports.ClientRepository.
func (r clients) OfAccount(ctx context.Context, accountID, clientID id.ID) (tenant.Client, error) {
	var client tenant.Client
	var err error = tenant.ErrNotFound
	asked := ports.AccountClient{AccountID: accountID, ClientID: clientID}
	sets.ShareClients(r.Tx, []ports.AccountClient{asked}, sets.Wait, func(c tenant.Client) {
		if c.AccountID == accountID {
			client, err = c, nil
		}
	})
	if failed := r.Flush(ctx); failed != nil {
		return tenant.Client{}, failed
	}
	return client, err
}

// Client implements ports.ClientReader.
func (s *Store) Client(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error) {
	row, err := s.q.ClientOfPartner(ctx, s.db, clientID, partnerID)
	return toClient(row), pg.OrNotFound(err, tenant.ErrNotFound)
}

func toClient(row sqlc.Client) tenant.Client {
	return tenant.Client{
		ID: row.ID, AccountID: row.AccountID, PartnerID: row.PartnerID,
		Person:    tenant.Person{Email: row.Email, FirstName: row.FirstName, LastName: row.LastName, Phone: row.Phone, Locale: row.Locale},
		CreatedAt: row.CreatedAt, ErasedAt: row.ErasedAt,
	}
}
