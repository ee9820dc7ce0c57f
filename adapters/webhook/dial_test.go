package webhook

import (
	"context"
	"net"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/hostiletest"
)

func TestDial_LetsLittleBeUnderWay(t *testing.T) {
	server := hostiletest.ServeTCP(t, func(net.Conn) {})
	c, err := newDialer(Config{Timeout: patient, AllowInsecure: true}).dial(t.Context(), "tcp", server.Address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	raw, err := c.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	option := func(level, name int) (value int) {
		var failed error
		require.NoError(t, raw.Control(func(fd uintptr) { value, failed = syscall.GetsockoptInt(int(fd), level, name) }))
		require.NoError(t, failed)
		return value
	}
	require.LessOrEqual(t, option(syscall.SOL_SOCKET, syscall.SO_RCVBUF), 2*receiveBuffer,
		"Linux counts its own overhead in")
	require.LessOrEqual(t, option(syscall.IPPROTO_TCP, syscall.TCP_MAXSEG), segment,
		"over loopback, where it would be 65,483")
}

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
	r := hostiletest.ServeTCP(t, hostiletest.SilentHandler)
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

// memoryInUse counts the bytes of the process's objects and stacks.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	var total int64
	for _, s := range samples {
		total += int64(s.Value.Uint64())
	}
	return total
}

// The bound on memory, 48 MiB, includes the twenty hostile receivers, which run in the process of the test.
func TestSender_BesideTwentyHostileReceivers_ServesTheGoodOneInBoundedMemory(t *testing.T) {
	const slots, bound = 6, 48 << 20
	ca := newAuthority(t)
	good := serve(t, answering(ok, nil))
	s := newSender(t, func(c *Config) {
		c.TLS = ca.ClientTLSConfig()
		c.Timeout = 5 * hasty // for the good endpoint on a busy machine
	})
	s.bodyTimeout = 100 * time.Millisecond
	urls := hostiletest.StartHostileReceivers(t, ca)
	require.Len(t, urls, 20)
	runtime.GC()
	before := memoryInUse()
	var attempts atomic.Int64
	var besiegers sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	for _, url := range urls {
		for range slots {
			besiegers.Go(func() {
				for pause := time.NewTicker(500 * time.Millisecond); ctx.Err() == nil; {
					s.Post(t.Context(), postTo(url), signedAt)
					attempts.Add(1)
					select {
					case <-ctx.Done():
					case <-pause.C:
					}
				}
			})
		}
	}
	var most int64
	for posts := 0; posts < 20 || attempts.Load() < 600; posts++ {
		a := s.Post(t.Context(), postTo("http://"+good.Address), signedAt)
		require.True(t, a.OK(), a.Detail)
		most = max(most, memoryInUse())
	}
	end()
	besiegers.Wait()
	t.Logf("%d hostile attempts, %d MiB more memory in use at most", attempts.Load(), (most-before)>>20)
	require.Less(t, most-before, int64(bound))
}

// A sender that used HTTP_PROXY would check the address of the proxy, and never that of the endpoint.
func TestNewSender_AsksNoProxy(t *testing.T) {
	t.Parallel()
	sender := NewSender(Config{})
	t.Cleanup(sender.Close)
	require.Nil(t, sender.transport.Proxy)
}
