package postgres

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/ports"
)

type idempotency struct{ unit }

// Claim implements ports.IdempotencyRepository. The claim ends with the transaction.
func (r idempotency) Claim(ctx context.Context, k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	key := &sets.ClaimedKey{Key: k, Since: now.Add(-ports.IdempotencyWindow)}
	sets.ClaimKeys(r.Tx, r.sealer, []*sets.ClaimedKey{key})
	if err := r.Flush(ctx); err != nil {
		return nil, err
	}
	return key.Result()
}

// Store implements ports.IdempotencyRepository.
func (r idempotency) Store(_ context.Context, k ports.IdempotencyKey, response ports.StoredResponse) error {
	keyed := sets.KeyedResponse{Key: k, Response: response}
	if err := keyed.Seal(r.sealer); err != nil {
		return err
	}
	sets.StoreResponses(r.Tx, []sets.KeyedResponse{keyed})
	return nil
}

// DeleteExpired implements ports.IdempotencyRepository.
func (r idempotency) DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := r.q.DeleteExpiredResponses(ctx, r.Tx, at, int32(limit))
	return int(n), err
}
