package passwords

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	accountports "partnerdeposits/ports/accounts"
)

// queue enters callers while the only slot is taken, and tells in which order they get their turns.
func queue(t *testing.T, callers ...accountports.PasswordCaller) (order []string) {
	t.Helper()
	all := turns{free: 1}
	release, err := all.acquire(t.Context(), accountports.PasswordCaller{Network: "first"})
	require.NoError(t, err)
	waiting := map[*caller]string{}
	for i, who := range callers {
		waiting[all.enter(who)] = fmt.Sprint(who.Network, i)
	}
	for range callers {
		release()
		for c, name := range waiting {
			select {
			case <-c.turn:
				order = append(order, name)
				delete(waiting, c)
			default:
			}
		}
	}
	release()
	require.Equal(t, 1, all.free, "the slot is free again")
	require.Empty(t, all.known.callers)
	require.Empty(t, all.strangers.networks)
	return order
}

func TestTurns_OfKnownNetworksComeFirst_AndNetworksAlternate(t *testing.T) {
	t.Parallel()
	a, b, c := accountports.PasswordCaller{Network: "a"}, accountports.PasswordCaller{Network: "b"},
		accountports.PasswordCaller{Network: "c", Known: true}
	require.Equal(t, []string{"c4", "c5", "a0", "b3", "a1", "a2"}, queue(t, a, a, a, b, c, c))
}

func TestTurns_HaveBounds(t *testing.T) {
	t.Parallel()
	var all turns
	for range maxOfNetwork {
		require.NotNil(t, all.enter(accountports.PasswordCaller{Network: "a"}))
	}
	require.Nil(t, all.enter(accountports.PasswordCaller{Network: "a"}), "one network does not take all places")
	for i := range maxWaiting - maxOfNetwork {
		require.NotNil(t, all.enter(accountports.PasswordCaller{Network: fmt.Sprint(i)}))
	}
	_, err := all.acquire(t.Context(), accountports.PasswordCaller{Network: "b"})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.NotNil(t, all.enter(accountports.PasswordCaller{Network: "b", Known: true}),
		"strangers take no place of a known network")
}

func TestTurns_OfACallerThatGaveUp_GoToTheNext(t *testing.T) {
	t.Parallel()
	var all turns
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := all.acquire(ctx, accountports.PasswordCaller{Network: "a"})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	next := all.enter(accountports.PasswordCaller{Network: "b"})
	all.release()
	_, open := <-next.turn
	require.False(t, open)
	require.Zero(t, all.free)
}

// Slots is how many hashes a hasher computes at once, while it computes none.
func Slots(a *Argon2id) int { return a.turns.free }

// Waiting is how many strangers wait.
func Waiting(a *Argon2id) int {
	a.turns.mu.Lock()
	defer a.turns.mu.Unlock()
	return a.turns.strangers.waiting
}
