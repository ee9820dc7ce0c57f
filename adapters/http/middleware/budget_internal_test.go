package middleware

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

var (
	errFull   = errors.New("full")
	errEnough = errors.New("enough")
)

func newBudget(most, each, kept int) *ResourceBudget {
	return &ResourceBudget{Most: most, Each: each, Kept: kept, Full: errFull, Enough: errEnough}
}

func TestBudget_BoundsProcessAndOwner(t *testing.T) {
	t.Parallel()
	a, b, c := id.ID{1}, id.ID{2}, id.ID{3}
	budget := newBudget(10, 6, 0)
	held, err := budget.TryAcquire(a, 4, 4)
	require.NoError(t, err)
	_, err = budget.TryAcquire(a, 3, 3)
	require.ErrorIs(t, err, errEnough)
	require.True(t, budget.ExceedsOwnerLimit(a, 3))
	require.False(t, budget.ExceedsOwnerLimit(a, 2))
	second, err := budget.TryAcquire(a, 2, 2)
	require.NoError(t, err)
	_, err = budget.TryAcquire(b, 5, 5)
	require.ErrorIs(t, err, errFull)
	third, err := budget.TryAcquire(b, 6, 1)
	require.NoError(t, err, "what counts for the owner may be another number")
	require.NoError(t, third.Grow(3))
	require.ErrorIs(t, third.Grow(1), errFull)
	held.Release()
	held.Release()
	require.Equal(t, 2, budget.PartsHeld())
	require.NoError(t, third.Grow(4), "what grew is given back with the rest, once")
	third.Release()
	second.Release()
	(*BudgetPart)(nil).Release()
	all, err := budget.TryAcquire(c, 6, 10)
	require.NoError(t, err)
	all.Release()
	require.Zero(t, budget.PartsHeld())
	require.Empty(t, budget.owners)
	require.Zero(t, budget.total)
}

// What is kept goes to owners that held nothing for a while.
func TestBudget_KeepsAPartForOwnersThatHeldNothingLately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, c := id.ID{1}, id.ID{2}, id.ID{3}
		budget := newBudget(3, 3, 1)
		take := func(owner id.ID) (*BudgetPart, error) { return budget.TryAcquire(owner, 1, 1) }
		first, err := take(a)
		require.NoError(t, err)
		_, err = take(a)
		require.NoError(t, err)
		_, err = take(a)
		require.ErrorIs(t, err, errFull)
		kept, err := take(b)
		require.NoError(t, err)
		kept.Release()
		_, err = take(b)
		require.ErrorIs(t, err, errFull, "it held something a moment ago")
		<-time.After(lately - time.Second)
		_, err = take(b)
		require.ErrorIs(t, err, errFull)
		<-time.After(lately + 2*time.Second)
		kept, err = take(b)
		require.NoError(t, err, "that is long ago")
		kept.Release()
		_, err = take(a)
		require.ErrorIs(t, err, errFull, "it holds something all the time")
		kept, err = take(c)
		require.NoError(t, err)
		require.ErrorIs(t, kept.Grow(1), errFull)
		first.Release()
		require.NoError(t, kept.Grow(1), "whoever was let into the part that is kept may grow in it")
	})
}

func TestBudget_Wait_EndsWithAPart_OrTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(1, 1, 0)
		first, err := budget.Acquire(t.Context(), id.ID{1}, 1, 1)
		require.NoError(t, err)
		got := make(chan error, 3)
		for owner := range byte(3) { // one of them waits for its own
			go func() {
				held, err := budget.Acquire(t.Context(), id.ID{owner}, 1, 1)
				held.Release()
				got <- err
			}()
		}
		synctest.Wait()
		require.Empty(t, got)
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = budget.Acquire(brief, id.ID{4}, 1, 1)
		require.ErrorIs(t, err, errFull)
		_, err = budget.Acquire(brief, id.ID{1}, 1, 1)
		require.ErrorIs(t, err, errEnough)
		first.Release()
		for range 3 {
			require.NoError(t, <-got)
		}
		require.Zero(t, budget.PartsHeld())
	})
}

// A part that rests is free for others at once, and for its owner later.
func TestBudget_GiveAfter_LetsTheOwnerWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(1, 1, 0)
		held, err := budget.TryAcquire(id.ID{1}, 1, 1)
		require.NoError(t, err)
		waited := make(chan time.Duration)
		begin := time.Now()
		go func() {
			next, err := budget.Acquire(t.Context(), id.ID{1}, 1, 1)
			next.Release()
			if err == nil {
				waited <- time.Since(begin)
			}
		}()
		synctest.Wait()
		held.ReleaseWithOwnerCooldown(time.Second)
		other, err := budget.TryAcquire(id.ID{2}, 1, 1)
		require.NoError(t, err)
		_, err = budget.TryAcquire(id.ID{3}, 1, 1)
		require.ErrorIs(t, err, errFull)
		other.Release()
		require.Equal(t, time.Second, <-waited)
		require.Zero(t, budget.PartsHeld())
	})
}
