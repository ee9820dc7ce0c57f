package postgres

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

type partners struct{ unit }

// Insert implements ports.PartnerRepository. The statement runs at once, so that a taken slug is reported here.
func (r partners) Insert(ctx context.Context, p partner.Partner, connectSecret secret.Text) error {
	sealed, err := r.sealConnect(p.ID, connectSecret)
	if err != nil {
		return err
	}
	return r.q.InsertPartner(ctx, r.Tx, sqlc.InsertPartnerParams{
		ID: p.ID, Slug: p.Slug, Name: p.Name, ContactEmail: p.ContactEmail, ReturnOrigins: orEmpty(p.ReturnOrigins),
		RateLimitPerMinute: int32(p.RateLimitPerMinute), ConnectSecret: sealed, CreatedAt: p.CreatedAt,
	})
}

func (r partners) sealConnect(partnerID id.ID, connectSecret secret.Text) ([]byte, error) {
	if connectSecret == "" {
		return nil, nil
	}
	return r.sealer.Seal(connectSecret, pg.ConnectAAD(partnerID))
}

// ForUpdate implements ports.PartnerSettings. The lock lets rows that refer to the partner be added meanwhile.
func (r partners) ForUpdate(ctx context.Context, slug string) (partner.Partner, error) {
	row, err := r.q.PartnerForUpdate(ctx, r.Tx, slug)
	return toPartner(sqlc.PartnersRow(row)), pg.OrNotFound(err, partner.ErrNotFound)
}

// Update implements ports.PartnerSettings.
func (r partners) Update(ctx context.Context, p partner.Partner) error {
	return changed(partner.ErrNotFound)(r.q.UpdatePartner(ctx, r.Tx, sqlc.UpdatePartnerParams{
		Name: p.Name, ContactEmail: p.ContactEmail, ReturnOrigins: orEmpty(p.ReturnOrigins), ID: p.ID,
	}))
}

func (r partners) SetConnectSecret(ctx context.Context, partnerID id.ID, connectSecret secret.Text) error {
	sealed, err := r.sealConnect(partnerID, connectSecret)
	if err != nil {
		return err
	}
	return changed(partner.ErrNotFound)(r.q.SetConnectSecret(ctx, r.Tx, sealed, partnerID))
}

func (r partners) SetRateLimit(ctx context.Context, partnerID id.ID, perMinute int) error {
	return changed(partner.ErrNotFound)(r.q.SetRateLimit(ctx, r.Tx, int32(perMinute), partnerID))
}

// InsertKey implements ports.KeyRepository. The lock on the partner's row makes the limit hold under concurrent inserts.
func (r partners) InsertKey(ctx context.Context, k partner.APIKey, hash partner.KeyHash) error {
	if err := r.q.LockPartner(ctx, r.Deferred(), k.PartnerID); err != nil {
		return err
	}
	return changed(partner.ErrAPIKeyLimit)(r.q.InsertKey(ctx, r.Tx, sqlc.InsertKeyParams{
		ID: k.ID, PartnerID: k.PartnerID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Hash: hash[:], CreatedAt: k.CreatedAt,
		Most: partner.MaxAPIKeys,
	}))
}

// KeyForUpdate implements ports.KeyRepository.
func (r partners) KeyForUpdate(ctx context.Context, keyID id.ID) (partner.APIKey, partner.Partner, error) {
	row, err := r.q.KeyForUpdate(ctx, r.Tx, keyID)
	found := toCaller(sqlc.KeyByHashRow(row))
	return found.Key, found.Partner, pg.OrNotFound(err, partner.ErrAPIKeyNotFound)
}

func (r partners) RevokeKey(ctx context.Context, keyID id.ID, at time.Time) (partner.APIKey, error) {
	row, err := r.q.RevokeKey(ctx, r.Tx, at, keyID)
	return partner.APIKey(row), pg.OrNotFound(err, partner.ErrAPIKeyNotFound)
}

// changed returns sentinel for a statement that changed no row.
func changed(sentinel error) func(rows int64, err error) error {
	return func(rows int64, err error) error {
		if err == nil && rows == 0 {
			return sentinel
		}
		return err
	}
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// PartnerBySlug implements ports.PartnerReader.
func (s *Store) PartnerBySlug(ctx context.Context, slug string) (partner.Partner, error) {
	row, err := s.q.PartnerBySlug(ctx, s.db, slug)
	return toPartner(sqlc.PartnersRow(row)), pg.OrNotFound(err, partner.ErrNotFound)
}

// PartnerByID implements ports.PartnerReader.
func (s *Store) PartnerByID(ctx context.Context, partnerID id.ID) (partner.Partner, error) {
	row, err := s.q.PartnerByID(ctx, s.db, partnerID)
	return toPartner(sqlc.PartnersRow(row)), pg.OrNotFound(err, partner.ErrNotFound)
}

// Partners implements ports.PartnerReader.
func (s *Store) Partners(ctx context.Context) ([]partner.Partner, error) {
	rows, err := s.q.Partners(ctx, s.db)
	return each(rows, toPartner), err
}

// ConnectSecret implements ports.PartnerReader.
func (s *Store) ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error) {
	sealed, err := s.q.ConnectSecret(ctx, s.db, partnerID)
	if err != nil || sealed == nil {
		return "", pg.OrNotFound(err, partner.ErrNotFound)
	}
	return s.sealer.Open(sealed, pg.ConnectAAD(partnerID))
}

func toPartner(row sqlc.PartnersRow) partner.Partner {
	return partner.Partner{
		ID: row.ID, Slug: row.Slug, Name: row.Name, ContactEmail: row.ContactEmail, ReturnOrigins: row.ReturnOrigins,
		RateLimitPerMinute: int(row.RateLimitPerMinute), HasConnectSecret: row.HasConnectSecret, CreatedAt: row.CreatedAt,
	}
}

func each[A, B any](in []A, convert func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = convert(a)
	}
	return out
}
