package webhook

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/hostiletest"
)

func TestHandshakeLimit_BoundsEachAddress(t *testing.T) {
	limit := handshakeLimit{perAddress: 2}
	var leave []func()
	for range 2 {
		l, err := limit.enter(t.Context(), "a")
		require.NoError(t, err)
		leave = append(leave, l)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := limit.enter(late, "a")
	require.ErrorIs(t, err, context.Canceled)
	other, err := limit.enter(t.Context(), "b")
	require.NoError(t, err)
	other()

	entered := make(chan func())
	go func() {
		l, err := limit.enter(context.WithoutCancel(t.Context()), "a")
		if err == nil {
			entered <- l
		}
	}()
	leave[0]()
	(<-entered)()
	leave[1]()
	require.Empty(t, limit.addresses, "unused addresses are forgotten")
}

func TestPost_HangingHandshakes_AreBoundedPerAddress(t *testing.T) {
	t.Parallel()
	r := hostiletest.Serve(t, hostiletest.Silent)
	s := newSender(t, func(c *Config) { c.Timeout = hasty })
	const more = 3
	details := make(chan string, handshakesPerAddress+more)
	for range handshakesPerAddress + more {
		go func() { details <- s.Post(t.Context(), postTo("https://"+r.Address), signedAt).Detail }()
	}
	told := map[string]int{}
	for range handshakesPerAddress + more {
		told[<-details]++
	}
	require.Equal(t, map[string]int{
		"No answer within 1s: the TLS handshake did not finish.":                            handshakesPerAddress,
		"No answer within 1s: the connections to it that were begun before were not ready.": more,
	}, told)
	require.Equal(t, int32(handshakesPerAddress), r.Conns.Load())
}
