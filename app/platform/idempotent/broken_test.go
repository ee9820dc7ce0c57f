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
	"partnerdeposits/ports"
)

// unlocked lets a key go as soon as its stored response is read, so that several effects of a key run at once.
type unlocked struct {
	ports.UnitOfWork
	claims ports.UnitOfWork // with connections of its own
}

func (r *rivals) unlocked(u ports.UnitOfWork) unlocked {
	pool, err := postgres.NewPool(r.t.Context(), r.kit.Pool.Config().ConnString(), postgres.PoolOptions{})
	require.NoError(r.t, err)
	pgtest.CloseAfter(r.t, pool)
	return unlocked{u, postgres.NewStore(pool, r.kit.Cipher, postgres.Options{})}
}

func (u unlocked) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	return u.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		repos.Idempotency = claimedBriefly{repos.Idempotency, u.claims}
		return fn(ctx, repos)
	})
}

type claimedBriefly struct {
	ports.IdempotencyRepository
	claims ports.UnitOfWork
}

// Claim claims in a transaction of its own, and takes a key in use for free.
func (c claimedBriefly) Claim(ctx context.Context, k ports.IdempotencyKey, now time.Time) (stored *ports.StoredResponse, err error) {
	err = c.claims.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		stored, err = repos.Idempotency.Claim(ctx, k, now)
		return err
	})
	if errors.Is(err, ports.ErrKeyInUse) {
		err = nil
	}
	return stored, err
}

// storedLater stores the response in a transaction of its own, after the effect has committed.
type storedLater struct{ unlocked }

func (s storedLater) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	var store func(context.Context, ports.Repositories) error
	err := s.unlocked.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		store = nil
		repos.Idempotency = postponed{repos.Idempotency, &store}
		return fn(ctx, repos)
	})
	if err != nil || store == nil {
		return err
	}
	_ = s.UnitOfWork.WithinTx(ctx, store) // refused where another response was quicker
	return nil
}

type postponed struct {
	ports.IdempotencyRepository
	store *func(context.Context, ports.Repositories) error
}

func (p postponed) Store(_ context.Context, k ports.IdempotencyKey, r ports.StoredResponse) error {
	*p.store = func(ctx context.Context, repos ports.Repositories) error { return repos.Idempotency.Store(ctx, k, r) }
	return nil
}

// markBelieved takes a mark in Redis for the lock. Like the mark of a process that died, a mark stays for a moment after
// the answer.
type markBelieved struct {
	unlocked
	redis *goredis.Client
}

func (m markBelieved) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	return m.unlocked.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		repos.Idempotency = marked{repos.Idempotency, m.redis}
		return fn(ctx, repos)
	})
}

type marked struct {
	ports.IdempotencyRepository
	redis *goredis.Client
}

func (m marked) Claim(ctx context.Context, k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	const life = 50 * time.Millisecond
	if free, err := m.redis.SetNX(ctx, fmt.Sprintf("mark:%x%x", k.PartnerID, k.Key), "", life).Result(); err != nil || !free {
		return nil, ports.ErrKeyInUse
	}
	return m.IdempotencyRepository.Claim(ctx, k, now)
}
