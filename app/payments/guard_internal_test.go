package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/parallel"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// provider answers as a test wants.
type provider struct {
	paymentports.PaymentProvider
	calls, waiting, most atomic.Int64
	answer               func(ctx context.Context) error
}

func (p *provider) LookupPayment(ctx context.Context, _ id.ID) (paymentports.ProviderPayment, error) {
	p.calls.Add(1)
	n := p.waiting.Add(1)
	defer p.waiting.Add(-1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen}, p.answer(ctx)
}

func hang(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func TestGuard_AProviderThatHangs_CostsFewCallsAndThenNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answer: hang}
		g := newGuard(p, wall{}, slog.New(slog.DiscardHandler))
		var all sync.WaitGroup
		begun := time.Now()
		var slowest atomic.Int64
		for range 500 {
			all.Go(func() {
				_, err := g.lookup(t.Context(), id.ID{})
				require.ErrorIs(t, err, fault.ErrUnavailable)
				slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
			})
		}
		all.Wait()
		require.EqualValues(t, maxCalls, p.most.Load(), "calls that wait for the provider")
		require.LessOrEqual(t, time.Duration(slowest.Load()), askTimeout, "a tenant gets a page within nine seconds")
		require.Zero(t, g.ready())

		calls, again := p.calls.Load(), time.Now()
		for range 100 {
			_, err := g.lookup(t.Context(), id.ID{})
			require.ErrorIs(t, err, fault.ErrUnavailable)
		}
		require.Equal(t, calls, p.calls.Load(), "no call is made during the rest")
		require.Zero(t, time.Since(again), "and nobody waits")

		<-time.After(restTime)
		require.Equal(t, 1, g.ready())
		_, err := g.lookup(t.Context(), id.ID{})
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.Equal(t, calls+1, p.calls.Load(), "a single call tries")
		require.Zero(t, g.ready())

		p.answer = func(context.Context) error { return nil }
		<-time.After(restTime)
		_, err = g.lookup(t.Context(), id.ID{})
		require.NoError(t, err)
		require.Equal(t, parallel.BatchSize, g.ready())
	})
}

func TestGuard_AProviderThatFallsSilent_IsNotCalledAgainByThoseWhoWaitedForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answer: hang}
		g := newGuard(p, wall{}, slog.New(slog.DiscardHandler))
		var all sync.WaitGroup
		call := func() {
			begun := time.Now()
			_, err := g.lookup(t.Context(), id.ID{})
			require.ErrorIs(t, err, fault.ErrUnavailable)
			require.LessOrEqual(t, time.Since(begun), askTimeout)
		}
		for range maxCalls {
			all.Go(call)
		}
		<-time.After(askTimeout - slotPatience/2)
		for range maxCalls {
			all.Go(call) // gets its slot in the middle of its patience
		}
		all.Wait()
		require.Less(t, p.calls.Load(), int64(maxCalls+maxFailures),
			"only those that got a slot before the failures that begin a rest")
		require.Empty(t, g.slots)
	})
}

func TestGuard_ABurst_WaitsForSlotsAndFailsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answer: func(context.Context) error { <-time.After(250 * time.Millisecond); return nil }}
		g := newGuard(p, wall{}, slog.New(slog.DiscardHandler))
		var all sync.WaitGroup
		begun := time.Now()
		for range 10 * maxCalls {
			all.Go(func() {
				_, err := g.lookup(t.Context(), id.ID{})
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.Equal(t, 2500*time.Millisecond, time.Since(begun))
		require.EqualValues(t, maxCalls, p.most.Load())
	})
}

func TestGuard_RequestsThatTheProviderHasRefused_LeaveOtherPaymentsAlone(t *testing.T) {
	t.Parallel()
	refused := fault.ErrUnavailable.WithCause(fmt.Errorf("%w: status 400", paymentports.ErrProviderRefused))
	away := fault.ErrUnavailable.WithCause(errors.New("connection refused"))
	var answer error
	p := &provider{answer: func(context.Context) error { return answer }}
	g := newGuard(p, wall{}, slog.New(slog.DiscardHandler))
	for i := range 10 * maxFailures { // four outages, one refusal, and again
		answer = away
		if i%maxFailures == maxFailures-1 {
			answer = refused
		}
		_, err := g.lookup(t.Context(), id.ID{})
		require.ErrorIs(t, err, answer)
	}
	answer = refused
	for range 3 * maxFailures {
		_, err := g.lookup(t.Context(), id.ID{})
		require.ErrorIs(t, err, paymentports.ErrProviderRefused)
	}
	answer = nil
	_, err := g.lookup(t.Context(), id.ID{})
	require.NoError(t, err, "another payment")
}

func TestGuard_RefusalsAndCallersWhoLeave_AreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answer: func(context.Context) error { return errors.New("no such customer") }}
		g := newGuard(p, wall{}, slog.New(slog.DiscardHandler))
		for range 2 * maxFailures {
			_, err := g.lookup(t.Context(), id.ID{})
			require.ErrorContains(t, err, "no such customer")
		}
		require.Equal(t, parallel.BatchSize, g.ready())
		p.answer = hang
		for range 2 * maxFailures {
			gone, leave := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, leave)
			_, err := g.lookup(gone, id.ID{})
			require.Error(t, err)
		}
		require.Equal(t, parallel.BatchSize, g.ready())
	})
}

func TestGuard_APanic_FreesTheSlot(t *testing.T) {
	p := &provider{answer: func(context.Context) error { panic("poisoned") }}
	g := newGuard(p, wall{}, slog.New(slog.DiscardHandler))
	for range 2 * maxCalls {
		require.Panics(t, func() { _, _ = g.lookup(t.Context(), id.ID{}) })
	}
	require.Empty(t, g.slots)
}
