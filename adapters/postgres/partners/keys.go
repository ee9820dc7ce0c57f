package partners

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/partners/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// KeyByHash returns an API key and its partner. Found keys are cached, unknown ones never, so that a new key
// works at once.
func (r APIKeyStore) KeyByHash(ctx context.Context, hash partner.APIKeyHash) (partner.APIKey, partner.Partner, error) {
	readAt := time.Now()
	if cached, ok := r.cache.get(hash, readAt); ok {
		return cached.Key, cached.Partner, nil
	}
	callers, err := r.cache.read(ctx, []partner.APIKeyHash{hash})
	if err != nil {
		return partner.APIKey{}, partner.Partner{}, err
	}
	found, ok := callers[hash]
	if !ok {
		return partner.APIKey{}, partner.Partner{}, partner.ErrInvalidAPIKey
	}
	r.cache.put(hash, found, readAt)
	return found.Key, found.Partner, nil
}

func readingKeys(db pg.DB) readKeys {
	return func(ctx context.Context, hashes []partner.APIKeyHash) (map[partner.APIKeyHash]partner.Caller, error) {
		wanted := make([][]byte, len(hashes))
		for i := range hashes {
			wanted[i] = hashes[i][:]
		}
		rows, err := queries.KeysByHash(ctx, db, wanted)
		found := make(map[partner.APIKeyHash]partner.Caller, len(rows))
		for _, row := range rows {
			found[partner.APIKeyHash(row.Hash)] = toCaller(row)
		}
		return found, err
	}
}

func toCaller(row sqlc.KeysByHashRow) partner.Caller {
	return partner.Caller{
		Key: partner.APIKey{ID: row.ID, PartnerID: row.PartnerID, Name: row.Name, Prefix: row.Prefix, Last4: row.Last4,
			CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, RevokedAt: row.RevokedAt},
		Partner: partner.Partner{ID: row.PartnerID, Slug: row.Slug, Name: row.PartnerName, ContactEmail: row.ContactEmail,
			ReturnOrigins: row.ReturnOrigins, RateLimitPerMinute: row.RateLimitPerMinute,
			HasConnectSecret: row.HasConnectSecret, CreatedAt: row.PartnerCreatedAt},
	}
}

func (r APIKeyStore) Keys(ctx context.Context, partnerID id.ID, page ports.Page) (ports.ListPage[partner.APIKey],
	error) {
	l := &lists.PageQuery{Table: "api_keys", Identity: []string{"id"}, Order: []string{"created_at", "id"}}
	l.Where("partner_id = ?", partnerID)
	l.AfterCursor(page.Cursor)
	sql := `SELECT k.id, k.partner_id, k.name, k.prefix, k.last4, k.created_at, k.last_used_at, k.revoked_at, k.fits, k.n
		FROM ` + l.RowsExpression(page) + ` AS k ORDER BY k.created_at DESC, k.id DESC`
	return lists.ReadPage(ctx, r.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.PageCandidateRow[partner.APIKey],
			err error) {
			k := &got.Item
			err = row.Scan(&k.ID, &k.PartnerID, &k.Name, &k.Prefix, &k.Last4, &k.CreatedAt, &k.LastUsedAt, &k.RevokedAt,
				&got.Fits, &got.N)
			return got, err
		}, func(k partner.APIKey) ports.Cursor { return ports.Cursor{At: k.CreatedAt, ID: k.ID} })
}

func (r APIKeyStore) IsKnownKey(hash partner.APIKeyHash) bool { return r.cache.seen(hash) }

// RecordKeyUse records that an API key was used, in the background and at most once a minute.
func (r APIKeyStore) RecordKeyUse(_ context.Context, keyID id.ID, at time.Time) {
	r.uses.add(keyID, at)
}
