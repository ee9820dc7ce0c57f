package partners

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/partners/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

// Insert inserts a partner at once, so that it returns the error of a taken slug.
func (r PartnerStore) Insert(ctx context.Context, p partner.Partner, connectSecret secret.Text) error {
	sealed, err := r.sealConnect(p.ID, connectSecret)
	if err != nil {
		return err
	}
	return queries.InsertPartner(ctx, pg.In(ctx), sqlc.InsertPartnerParams{
		ID: p.ID, Slug: p.Slug, Name: p.Name, ContactEmail: p.ContactEmail, ReturnOrigins: pg.OrEmptySlice(p.ReturnOrigins),
		RateLimitPerMinute: p.RateLimitPerMinute, ConnectSecret: sealed, CreatedAt: p.CreatedAt,
	})
}

func (r PartnerStore) sealConnect(partnerID id.ID, connectSecret secret.Text) ([]byte, error) {
	if connectSecret == "" {
		return nil, nil
	}
	return r.Sealer.Encrypt(connectSecret, pg.ConnectSecretAAD(partnerID))
}

// LockRow returns a partner and locks its row. While the lock is held, rows that refer to the partner can still
// be added.
func (r PartnerStore) LockRow(ctx context.Context, slug string) (partner.Partner, error) {
	row, err := queries.PartnerForUpdate(ctx, pg.In(ctx), slug)
	return toPartner(sqlc.PartnersRow(row)), pg.ReplaceErrNoRows(err, partner.ErrNotFound)
}

func (r PartnerStore) Update(ctx context.Context, p partner.Partner) error {
	return pg.RequireRowChanged(partner.ErrNotFound)(queries.UpdatePartner(ctx, pg.In(ctx), sqlc.UpdatePartnerParams{
		Name: p.Name, ContactEmail: p.ContactEmail, ReturnOrigins: pg.OrEmptySlice(p.ReturnOrigins), ID: p.ID,
	}))
}

func (r PartnerStore) SetConnectSecret(ctx context.Context, partnerID id.ID, connectSecret secret.Text) error {
	sealed, err := r.sealConnect(partnerID, connectSecret)
	if err != nil {
		return err
	}
	return pg.RequireRowChanged(partner.ErrNotFound)(queries.SetConnectSecret(ctx, pg.In(ctx), sealed, partnerID))
}

func (r PartnerStore) SetRateLimit(ctx context.Context, partnerID id.ID, perMinute int) error {
	return pg.RequireRowChanged(partner.ErrNotFound)(queries.SetRateLimit(ctx, pg.In(ctx), perMinute, partnerID))
}

// InsertKey inserts an API key. A lock on the partner's row keeps the limit of keys.
func (r APIKeyStore) InsertKey(ctx context.Context, k partner.APIKey, hash partner.APIKeyHash) error {
	if err := queries.LockPartner(ctx, pg.In(ctx).QueueingTx(), k.PartnerID); err != nil {
		return err
	}
	return pg.RequireRowChanged(partner.ErrAPIKeyLimit)(queries.InsertKey(ctx, pg.In(ctx), sqlc.InsertKeyParams{
		ID: k.ID, PartnerID: k.PartnerID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Hash: hash[:],
		CreatedAt: k.CreatedAt,
		MaxRows:   partner.MaxAPIKeys,
	}))
}

func (r APIKeyStore) LockKeyRow(ctx context.Context, keyID id.ID) (partner.APIKey, partner.Partner, error) {
	row, err := queries.KeyForUpdate(ctx, pg.In(ctx), keyID)
	found := toCaller(sqlc.KeysByHashRow(row))
	return found.Key, found.Partner, pg.ReplaceErrNoRows(err, partner.ErrAPIKeyNotFound)
}

func (r APIKeyStore) RevokeKey(ctx context.Context, keyID id.ID, at time.Time) (partner.APIKey, error) {
	row, err := queries.RevokeKey(ctx, pg.In(ctx), at, keyID)
	return partner.APIKey(row), pg.ReplaceErrNoRows(err, partner.ErrAPIKeyNotFound)
}

func (r PartnerStore) PartnerBySlug(ctx context.Context, slug string) (partner.Partner, error) {
	row, err := queries.PartnerBySlug(ctx, r.DB, slug)
	return toPartner(sqlc.PartnersRow(row)), pg.ReplaceErrNoRows(err, partner.ErrNotFound)
}

func (r PartnerStore) PartnerByID(ctx context.Context, partnerID id.ID) (partner.Partner, error) {
	row, err := queries.PartnerByID(ctx, r.DB, partnerID)
	return toPartner(sqlc.PartnersRow(row)), pg.ReplaceErrNoRows(err, partner.ErrNotFound)
}

func (r PartnerStore) Partners(ctx context.Context) ([]partner.Partner, error) {
	rows, err := queries.Partners(ctx, r.DB)
	return pg.ConvertEach(rows, toPartner), err
}

func (r PartnerStore) ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error) {
	sealed, err := queries.ConnectSecret(ctx, r.DB, partnerID)
	if err != nil || sealed == nil {
		return "", pg.ReplaceErrNoRows(err, partner.ErrNotFound)
	}
	return r.Sealer.Decrypt(sealed, pg.ConnectSecretAAD(partnerID))
}

func toPartner(row sqlc.PartnersRow) partner.Partner {
	return partner.Partner{
		ID: row.ID, Slug: row.Slug, Name: row.Name, ContactEmail: row.ContactEmail, ReturnOrigins: row.ReturnOrigins,
		RateLimitPerMinute: row.RateLimitPerMinute, HasConnectSecret: row.HasConnectSecret, CreatedAt: row.CreatedAt,
	}
}
