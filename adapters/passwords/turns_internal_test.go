package passwords

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// queue enters callers while the only slot is taken, and tells in which order they get their turns.
func queue(t *testing.T, callers ...ports.Turn) (order []string) {
	t.Helper()
	all := turns{free: 1}
	release, err := all.acquire(t.Context(), ports.Turn{Network: "first"})
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
	a, b, c := ports.Turn{Network: "a"}, ports.Turn{Network: "b"}, ports.Turn{Network: "c", Known: true}
	require.Equal(t, []string{"c4", "c5", "a0", "b3", "a1", "a2"}, queue(t, a, a, a, b, c, c))
}

func TestTurns_HaveBounds(t *testing.T) {
	t.Parallel()
	var all turns
	for range mostOfNetwork {
		require.NotNil(t, all.enter(ports.Turn{Network: "a"}))
	}
	require.Nil(t, all.enter(ports.Turn{Network: "a"}), "one network does not take all places")
	for i := range mostWaiting - mostOfNetwork {
		require.NotNil(t, all.enter(ports.Turn{Network: fmt.Sprint(i)}))
	}
	_, err := all.acquire(t.Context(), ports.Turn{Network: "b"})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.NotNil(t, all.enter(ports.Turn{Network: "b", Known: true}), "strangers take no place of a known network")
}

func TestTurns_OfACallerThatGaveUp_GoToTheNext(t *testing.T) {
	t.Parallel()
	var all turns
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := all.acquire(ctx, ports.Turn{Network: "a"})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	next := all.enter(ports.Turn{Network: "b"})
	all.release()
	_, open := <-next.turn
	require.False(t, open)
	require.Zero(t, all.free)
}
