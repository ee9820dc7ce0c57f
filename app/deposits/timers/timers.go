package timers

import (
	"context"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// MarkIdleCheckouts moves deposits to incomplete whose tenant made no step for Timers.CheckoutIdleAfter.
func (s *Service) MarkIdleCheckouts(ctx context.Context) (moved int, err error) {
	now := s.deps.Clock.Now()
	before := now.Add(-s.deps.Timers.CheckoutIdleAfter)
	find := func(ctx context.Context, limit int) ([]id.ID, error) {
		return s.deps.Due.IdleCheckouts(ctx, before, limit)
	}
	return s.idle.run(ctx, s.deps.Log, find, func(ctx context.Context, depositID id.ID) (bool, error) {
		return s.deps.Transitions.ApplyTriggerIf(ctx, depositID, deposit.TriggerCheckoutIdle, now,
			func(d *deposit.Deposit) bool {
				return d.CheckoutIdle(s.deps.Timers, now)
			})
	})
}

// ExpireCheckouts cancels deposits that were not secured in time, after settling a payment in flight. A deposit
// stays while the provider cannot be reached.
func (s *Service) ExpireCheckouts(ctx context.Context) (moved int, err error) {
	now := s.deps.Clock.Now()
	find := func(ctx context.Context, limit int) ([]id.ID, error) {
		return s.deps.Due.ExpiredCheckouts(ctx, now, limit)
	}
	return s.expired.run(ctx, s.deps.Log, find, func(ctx context.Context, depositID id.ID) (bool, error) {
		err := s.deps.Payments.EndCheckout(ctx, depositID, deposit.TriggerCheckoutExpired, nil, now)
		return expired(err)
	})
}

// expired reports whether EndCheckout cancelled a deposit; a checkout that had already ended is no failure.
func expired(err error) (cancelled bool, failure error) {
	if lifecycle.IsCheckoutOverError(err) {
		return false, nil
	}
	return err == nil, err
}

func (s *Service) CloseElapsedDeposits(ctx context.Context) (moved int, err error) {
	now := s.deps.Clock.Now()
	find := func(ctx context.Context, limit int) ([]id.ID, error) {
		return s.deps.Due.ElapsedCovers(ctx, now, limit)
	}
	return s.elapsed.run(ctx, s.deps.Log, find, func(ctx context.Context, depositID id.ID) (bool, error) {
		return s.deps.Transitions.ApplyTriggerIf(ctx, depositID, deposit.TriggerCoverElapsed, now,
			func(d *deposit.Deposit) bool {
				return d.CoverElapsed(now)
			})
	})
}
