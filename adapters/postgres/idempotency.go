package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

type idempotency struct{ unit }

// Claim implements ports.IdempotencyRepository. The lock ends with the transaction. The row is read by a statement of its
// own, after the lock's: whoever held the lock before has committed by then, and is seen.
func (r idempotency) Claim(ctx context.Context, k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	var claimed bool
	var stored ports.StoredResponse
	var fingerprint, sealed []byte
	lock := r.Row(`SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, []any{pg.KeyScope(k)}, &claimed)
	found := r.Row(`SELECT fingerprint, status, response, created_at FROM idempotency_keys
		WHERE partner_id = $1 AND route = $2 AND key = $3 AND created_at > $4`,
		[]any{k.PartnerID, k.Route, id.ID(k.Key), now.Add(-ports.IdempotencyWindow)}, &fingerprint, &stored.Status, &sealed, &stored.CreatedAt)
	if err := r.Flush(ctx); err != nil {
		return nil, err
	}
	switch {
	case *lock != nil:
		return nil, pg.Translate(*lock)
	case !claimed:
		return nil, ports.ErrKeyInUse
	case errors.Is(*found, pgx.ErrNoRows):
		return nil, nil // the port: nil, go on
	case *found != nil:
		return nil, pg.Translate(*found)
	}
	body, err := r.sealer.Open(sealed, pg.ResponseAAD(k))
	if err != nil {
		return nil, err
	}
	stored.Fingerprint, stored.Body = [32]byte(fingerprint), []byte(body.Reveal())
	return &stored, nil
}

func (r idempotency) Store(ctx context.Context, k ports.IdempotencyKey, response ports.StoredResponse) error {
	params, err := responseParams(r.sealer, k, response)
	if err != nil {
		return err
	}
	return r.q.StoreResponse(ctx, r.Deferred(), params)
}

func responseParams(seal pg.Sealer, k ports.IdempotencyKey, response ports.StoredResponse) (sqlc.StoreResponseParams, error) {
	sealed, err := seal.Seal(secret.Text(response.Body), pg.ResponseAAD(k))
	return sqlc.StoreResponseParams{
		PartnerID: k.PartnerID, Route: k.Route, Key: k.Key, Fingerprint: response.Fingerprint[:], Status: int16(response.Status),
		Response: sealed, CreatedAt: response.CreatedAt, Span: ports.IdempotencyWindow,
	}, err
}

func (r idempotency) DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := r.q.DeleteExpiredResponses(ctx, r.Tx, at, int32(limit))
	return int(n), err
}
