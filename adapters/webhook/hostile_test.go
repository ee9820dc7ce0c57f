package webhook

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"partnerdeposits/lab/hostiletest"

	"github.com/stretchr/testify/require"
)

// besiege keeps posting to every hostile receiver, with as many slots for each and a pause after each attempt, until
// the returned function is called.
func besiege(t testing.TB, s *Sender, urls []string, slots int,
	pause time.Duration) (attempts *atomic.Int64, end func()) {
	attempts = &atomic.Int64{}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, url := range urls {
		for range slots {
			wg.Go(func() {
				p := postTo(url)
				tick := time.NewTicker(pause)
				defer tick.Stop()
				for !closed(done) {
					s.Post(t.Context(), p, signedAt)
					attempts.Add(1)
					select {
					case <-done:
					case <-tick.C:
					}
				}
			})
		}
	}
	return attempts, func() { close(done); wg.Wait() }
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
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

// The bound includes the twenty receivers, which run in the same process.
func TestSender_BesideTwentyHostileReceivers_ServesTheGoodOneInBoundedMemory(t *testing.T) {
	const slots, bound = 6, 48 << 20
	ca := newAuthority(t)
	good := serve(t, answering(ok, nil))
	s := newSender(t, func(c *Config) {
		c.TLS = ca.Trust()
		c.Timeout = 5 * hasty // for the good endpoint on a busy machine
	})
	s.bodyTimeout = 100 * time.Millisecond
	urls := hostiletest.Hostile(t, ca)
	require.Len(t, urls, 20)
	runtime.GC()
	before := memoryInUse()
	attempts, end := besiege(t, s, urls, slots, 500*time.Millisecond)
	var most int64
	for posts := 0; posts < 20 || attempts.Load() < 600; posts++ {
		a := s.Post(t.Context(), postTo("http://"+good.Address), signedAt)
		require.True(t, a.OK(), a.Detail)
		most = max(most, memoryInUse())
	}
	end()
	t.Logf("%d hostile attempts, %d MiB more memory in use at most", attempts.Load(), (most-before)>>20)
	require.Less(t, most-before, int64(bound))
}

// BenchmarkGoodReceiver measures how long a good receiver's POSTs take, alone and beside twenty hostile ones.
func BenchmarkGoodReceiver(b *testing.B) {
	for _, hostile := range []bool{false, true} {
		b.Run("hostile="+strconv.FormatBool(hostile), func(b *testing.B) {
			ca := newAuthority(b)
			good := minimalReceiver(b, ok)
			s := newSender(b, func(c *Config) {
				c.TLS = ca.Trust()
				c.Timeout = 2 * hasty
			})
			end := func() {}
			if hostile {
				_, end = besiege(b, s, hostiletest.Hostile(b, ca), 4, 500*time.Millisecond)
			}
			took := make([]time.Duration, 0, b.N)
			p := postTo("http://" + good)
			for b.Loop() {
				a := s.Post(b.Context(), p, signedAt)
				if !a.OK() {
					b.Fatal(a.Detail)
				}
				took = append(took, a.Duration)
			}
			end()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		})
	}
}
