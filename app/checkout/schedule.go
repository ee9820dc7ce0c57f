package checkout

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

const (
	// batch is how many due rows a scheduler takes at a time.
	batch = 200
	// parallel is how many of them are worked on at once: most of the time goes into waiting for the provider.
	parallel = 4
	// stuckLimit bounds how far a sweep looks past what it cannot move.
	stuckLimit = 5_000
)

// MarkIdle makes deposits incomplete whose checkout was started and then rested for Timers.CheckoutIdleAfter.
// Like every scheduler here it may run in several dispatchers at once, gives the number of deposits it moved, and fails
// only where it could not look for work: what goes wrong with one deposit is logged and tried again next time.
func (s *Service) MarkIdle(ctx context.Context) (int, error) {
	now := s.deps.Clock.Now()
	before := now.Add(-s.cfg.Timers.CheckoutIdleAfter)
	find := func(ctx context.Context, limit int) ([]id.ID, error) {
		return s.deps.Due.IdleCheckouts(ctx, before, limit)
	}
	return s.sweep(ctx, &s.idle, "mark idle", find, func(ctx context.Context, depositID id.ID) (bool, error) {
		return s.moveIf(ctx, depositID, deposit.CheckoutIdle, now, func(d *deposit.Deposit) bool {
			return d.Status == deposit.Pending && !d.CheckoutStartedAt.IsZero() && !d.CheckoutStartedAt.After(before)
		})
	})
}

// ExpireCheckouts cancels deposits that were not secured in time. It waits for a payment under way: the page is closed
// and the provider's word recorded first; while the provider cannot be asked the deposit stays as it is.
func (s *Service) ExpireCheckouts(ctx context.Context) (int, error) {
	now := s.deps.Clock.Now()
	find := func(ctx context.Context, limit int) ([]id.ID, error) {
		return s.deps.Due.ExpiredCheckouts(ctx, now, limit)
	}
	return s.sweep(ctx, &s.unsecured, "expire checkout", find, func(ctx context.Context, depositID id.ID) (bool, error) {
		err := s.end(ctx, depositID, deposit.CheckoutExpired, now, nil)
		if isOver(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// CloseElapsed closes active deposits whose coverage has ended.
func (s *Service) CloseElapsed(ctx context.Context) (int, error) {
	now := s.deps.Clock.Now()
	find := func(ctx context.Context, limit int) ([]id.ID, error) {
		return s.deps.Due.ElapsedCoverages(ctx, now, limit)
	}
	return s.sweep(ctx, &s.covered, "close elapsed", find, func(ctx context.Context, depositID id.ID) (bool, error) {
		return s.moveIf(ctx, depositID, deposit.CoverageElapsed, now, func(d *deposit.Deposit) bool {
			return d.Status == deposit.Active && !now.Before(d.ExpiresAt)
		})
	})
}

// moveIf locks the deposit, looks again, and moves it where due still holds.
func (s *Service) moveIf(ctx context.Context, depositID id.ID, t deposit.Trigger, now time.Time, due func(*deposit.Deposit) bool) (moved bool, err error) {
	err = s.transact(ctx, func(ctx context.Context, repos ports.Repositories) (deposit.Transition, error) {
		moved = false
		d, err := repos.Deposits.ForUpdate(ctx, depositID)
		if err != nil || !due(d) {
			return deposit.Transition{}, err
		}
		moved = true
		return s.move(ctx, repos, d, t, now)
	})
	return moved && err == nil, err
}

// sweep remembers how many due deposits the last round could not move. They come first again, so the next round looks
// that much further: a few deposits in trouble never hide the rest.
type sweep struct{ stuck atomic.Int64 }

// sweep works through all that is due, batch by batch, until a batch brings nothing new.
func (s *Service) sweep(ctx context.Context, round *sweep, name string,
	find func(ctx context.Context, limit int) ([]id.ID, error),
	act func(ctx context.Context, depositID id.ID) (bool, error),
) (moved int, err error) {
	failed := map[id.ID]bool{}
	limit := batch + int(min(round.stuck.Load(), stuckLimit))
	for ctx.Err() == nil {
		due, err := find(ctx, limit)
		if err != nil {
			return moved, fmt.Errorf("%s: %w", name, err)
		}
		fresh := make([]id.ID, 0, len(due))
		for _, depositID := range due {
			if !failed[depositID] {
				fresh = append(fresh, depositID)
			}
		}
		n, stuck := s.each(ctx, name, fresh, act)
		moved += n
		for _, depositID := range stuck {
			failed[depositID] = true
		}
		if len(due) < limit || len(fresh) == 0 {
			break
		}
		limit = batch + min(len(failed), stuckLimit)
	}
	round.stuck.Store(int64(len(failed)))
	return moved, ctx.Err()
}

// each acts on every deposit, a few at a time, and gives how many moved and which ones failed.
func (s *Service) each(ctx context.Context, name string, ids []id.ID, act func(context.Context, id.ID) (bool, error)) (moved int, failed []id.ID) {
	var mu sync.Mutex
	inParallel(ids, func(depositID id.ID) {
		did, err := guarded(func() (bool, error) { return act(ctx, depositID) })
		if err != nil {
			s.deps.Log.ErrorContext(ctx, name+" failed", "deposit", id.Deposit.Of(depositID), "error", err)
		}
		mu.Lock()
		defer mu.Unlock()
		if did {
			moved++
		}
		if err != nil {
			failed = append(failed, depositID)
		}
	})
	return moved, failed
}

func inParallel[T any](items []T, do func(T)) {
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for _, item := range items {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(item)
		})
	}
	wg.Wait()
}

// guarded turns a panic into an error: one poisoned row stops nobody else.
func guarded(do func() (bool, error)) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			ok, err = false, fmt.Errorf("panic: %v", r)
		}
	}()
	return do()
}
