//go:build !unit

package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

// unlocked claims each key in a transaction of its own, which ends at once.
func (r *rivals) unlocked(p *servicetest.Parts) {
	pool, err := postgres.NewPool(r.t.Context(), r.kit.Pool.Config().ConnString(), postgres.PoolOptions{})
	require.NoError(r.t, err)
	pgtest.CloseAfter(r.t, pool)
	p.Keys = claimedBriefly{p.Keys, postgres.NewStore(pool, r.kit.Cipher, postgres.Options{})}
}

type claimedBriefly struct {
	ports.Idempotency
	claims *postgres.Store // with connections of its own
}

// Claim claims in a transaction of its own, and takes a key in use for free.
func (c claimedBriefly) Claim(_ context.Context, k ports.IdempotencyKey,
	now time.Time) (stored *ports.StoredResponse, err error) {
	err = c.claims.WithinTx(context.Background(), func(ctx context.Context) (err error) {
		stored, err = c.claims.Idempotency.Claim(ctx, k, now)
		return err
	})
	if errors.Is(err, ports.ErrKeyInUse) {
		err = nil
	}
	return stored, err
}

// storedLater stores the response in a transaction of its own, after the effect has committed.
type storedLater struct{ ports.UnitOfWork }

type laterKey struct{}

func (s storedLater) WithinTx(ctx context.Context, fn func(context.Context) error) error {
	var store func(context.Context) error
	err := s.UnitOfWork.WithinTx(context.WithValue(ctx, laterKey{}, &store), func(ctx context.Context) error {
		store = nil
		return fn(ctx)
	})
	if err != nil || store == nil {
		return err
	}
	_ = s.UnitOfWork.WithinTx(ctx, store) // refused where another response was quicker
	return nil
}

type postponed struct{ ports.Idempotency }

func (p postponed) Store(ctx context.Context, k ports.IdempotencyKey, r ports.StoredResponse) error {
	*ctx.Value(laterKey{}).(*func(context.Context) error) = func(ctx context.Context) error {
		return p.Idempotency.Store(ctx, k, r)
	}
	return nil
}

// marked takes a mark in Redis for the lock. Like the mark of a process that died, a mark stays for a moment after the
// answer.
type marked struct {
	ports.Idempotency
	redis *goredis.Client
}

func (m marked) Claim(ctx context.Context, k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	const life = 50 * time.Millisecond
	if free, err := m.redis.SetNX(ctx, fmt.Sprintf("mark:%x%x", k.Owner, k.Key), "", life).Result(); err != nil || !free {
		return nil, ports.ErrKeyInUse
	}
	return m.Idempotency.Claim(ctx, k, now)
}
