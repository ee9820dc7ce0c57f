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

func newBudget(most, each, kept int) *Budget {
	return &Budget{Most: most, Each: each, Kept: kept, Full: errFull, Enough: errEnough}
}

func TestBudget_BoundsProcessAndOwner(t *testing.T) {
	t.Parallel()
	a, b, c := id.ID{1}, id.ID{2}, id.ID{3}
	budget := newBudget(10, 6, 0)
	held, err := budget.Take(a, 4, 4)
	require.NoError(t, err)
	_, err = budget.Take(a, 3, 3)
	require.ErrorIs(t, err, errEnough)
	require.True(t, budget.Spent(a, 3))
	require.False(t, budget.Spent(a, 2))
	second, err := budget.Take(a, 2, 2)
	require.NoError(t, err)
	_, err = budget.Take(b, 5, 5)
	require.ErrorIs(t, err, errFull)
	third, err := budget.Take(b, 6, 1)
	require.NoError(t, err, "what counts for the owner may be another number")
	require.NoError(t, third.Grow(3))
	require.ErrorIs(t, third.Grow(1), errFull)
	held.Give()
	held.Give()
	require.Equal(t, 2, budget.Holds())
	require.NoError(t, third.Grow(4), "what grew is given back with the rest, once")
	third.Give()
	second.Give()
	(*Hold)(nil).Give()
	all, err := budget.Take(c, 6, 10)
	require.NoError(t, err)
	all.Give()
	require.Zero(t, budget.Holds())
	require.Empty(t, budget.owners)
	require.Zero(t, budget.total)
}

// What is kept goes to owners that held nothing for a while.
func TestBudget_KeepsAPartForOwnersThatHeldNothingLately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, c := id.ID{1}, id.ID{2}, id.ID{3}
		budget := newBudget(3, 3, 1)
		take := func(owner id.ID) (*Hold, error) { return budget.Take(owner, 1, 1) }
		first, err := take(a)
		require.NoError(t, err)
		_, err = take(a)
		require.NoError(t, err)
		_, err = take(a)
		require.ErrorIs(t, err, errFull)
		kept, err := take(b)
		require.NoError(t, err)
		kept.Give()
		_, err = take(b)
		require.ErrorIs(t, err, errFull, "it held something a moment ago")
		<-time.After(lately - time.Second)
		_, err = take(b)
		require.ErrorIs(t, err, errFull)
		<-time.After(lately + 2*time.Second)
		kept, err = take(b)
		require.NoError(t, err, "that is long ago")
		kept.Give()
		_, err = take(a)
		require.ErrorIs(t, err, errFull, "it holds something all the time")
		kept, err = take(c)
		require.NoError(t, err)
		require.ErrorIs(t, kept.Grow(1), errFull)
		first.Give()
		require.NoError(t, kept.Grow(1), "whoever was let into the part that is kept may grow in it")
	})
}

func TestBudget_Wait_EndsWithAPart_OrTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(1, 1, 0)
		first, err := budget.Wait(t.Context(), id.ID{1}, 1, 1)
		require.NoError(t, err)
		got := make(chan error, 3)
		for owner := range byte(3) { // one of them waits for its own
			go func() {
				held, err := budget.Wait(t.Context(), id.ID{owner}, 1, 1)
				held.Give()
				got <- err
			}()
		}
		synctest.Wait()
		require.Empty(t, got)
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = budget.Wait(brief, id.ID{4}, 1, 1)
		require.ErrorIs(t, err, errFull)
		_, err = budget.Wait(brief, id.ID{1}, 1, 1)
		require.ErrorIs(t, err, errEnough)
		first.Give()
		for range 3 {
			require.NoError(t, <-got)
		}
		require.Zero(t, budget.Holds())
	})
}

// A part that rests is free for others at once, and for its owner later.
func TestBudget_GiveAfter_LetsTheOwnerWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(1, 1, 0)
		held, err := budget.Take(id.ID{1}, 1, 1)
		require.NoError(t, err)
		waited := make(chan time.Duration)
		begin := time.Now()
		go func() {
			next, err := budget.Wait(t.Context(), id.ID{1}, 1, 1)
			next.Give()
			if err == nil {
				waited <- time.Since(begin)
			}
		}()
		synctest.Wait()
		held.GiveAfter(time.Second)
		other, err := budget.Take(id.ID{2}, 1, 1)
		require.NoError(t, err)
		_, err = budget.Take(id.ID{3}, 1, 1)
		require.ErrorIs(t, err, errFull)
		other.Give()
		require.Equal(t, time.Second, <-waited)
		require.Zero(t, budget.Holds())
	})
}
