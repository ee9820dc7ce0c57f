package platform

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	ports "partnerdeposits/ports/platform"
)

// ClaimKey locks an idempotency key until the transaction ends, and returns its stored response, or nil.
func (r IdempotencyStore) ClaimKey(ctx context.Context, k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse,
	error) {
	key := &IdempotencyClaim{Key: k, Since: now.Add(-ports.IdempotencyWindow)}
	ClaimIdempotencyKeys(pg.In(ctx), r.Sealer, []*IdempotencyClaim{key})
	if err := pg.In(ctx).Flush(ctx); err != nil {
		return nil, err
	}
	return key.Result()
}

func (r IdempotencyStore) StoreResponse(ctx context.Context, k ports.IdempotencyKey,
	response ports.StoredResponse) error {
	keyed := KeyedResponse{Key: k, Response: response}
	if err := keyed.Encrypt(r.Sealer); err != nil {
		return err
	}
	StoreKeyedResponses(pg.In(ctx), []KeyedResponse{keyed})
	return nil
}

func (r IdempotencyStore) DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteExpiredResponses(ctx, pg.In(ctx), at, limit)
	return int(n), err
}
