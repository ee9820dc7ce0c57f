package webhook

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/webhook/hostiletest"
)

func TestGate_LetsSoManyInAtOnce_PerAddress(t *testing.T) {
	g := gate{places: 2}
	var leave []func()
	for range 2 {
		l, err := g.enter(t.Context(), "a")
		require.NoError(t, err)
		leave = append(leave, l)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.enter(late, "a")
	require.ErrorIs(t, err, context.Canceled)
	other, err := g.enter(t.Context(), "b")
	require.NoError(t, err)
	other()

	entered := make(chan func())
	go func() {
		l, err := g.enter(context.WithoutCancel(t.Context()), "a")
		if err == nil {
			entered <- l
		}
	}()
	leave[0]()
	(<-entered)()
	leave[1]()
	require.Empty(t, g.doors, "nobody is there")
}

func TestPost_WhereHandshakesHang_SoManyAreTriedAndTheRestIsTold(t *testing.T) {
	t.Parallel()
	r := hostiletest.Serve(t, hostiletest.Silent)
	s := newSender(t, func(c *Config) { c.Timeout = hasty })
	const more = 3
	details := make(chan string, dialsAtOnce+more)
	for range dialsAtOnce + more {
		go func() { details <- s.Post(t.Context(), postTo("https://"+r.Address)).Detail }()
	}
	told := map[string]int{}
	for range dialsAtOnce + more {
		told[<-details]++
	}
	require.Equal(t, map[string]int{
		"No answer within 1s: the TLS handshake did not finish.":                            dialsAtOnce,
		"No answer within 1s: the connections to it that were begun before were not ready.": more,
	}, told)
	require.Equal(t, int32(dialsAtOnce), r.Conns.Load())
}
