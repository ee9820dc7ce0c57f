package webhook

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

// hostileReceivers starts twenty receivers that mean harm, and gives their URLs.
func hostileReceivers(t testing.TB, ca *authority) []string {
	const begin = "HTTP/1.1 200 OK\r\n"
	gigabyte := answering(begin+"Content-Length: 1073741824\r\n\r\n", forever("x"))
	plain := []func(net.Conn){
		silent,
		reset,
		func(net.Conn) {},
		forever("not asked for\r\n"),
		gigabyte,
		answering(begin+"Content-Length: 100000\r\n\r\n", trickle("x")),
		answering(begin+"X: ", trickle("x")),
		answering(begin, forever("X-Header: value\r\n")),
		answering("", forever("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")),
		answering(begin+"Transfer-Encoding: chunked\r\n\r\n", forever("1\r\nx\r\n")),
		answering(begin+"Content-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n"+gzipBomb(t), silent),
		answering("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", forever("x")),
		answering("HTTP/1.1 500 \x00\xff\r\nContent-Length: 3\r\n\r\n\x00\xff\xfe", nil),
		func(c net.Conn) { // sends everyone round in circles
			_, _, _ = request(bufio.NewReader(c))
			_, _ = io.WriteString(c, "HTTP/1.1 307 Again\r\nLocation: http://"+c.LocalAddr().String()+"/\r\nContent-Length: 0\r\n\r\n")
		},
	}
	var urls []string
	for _, handle := range plain {
		urls = append(urls, "http://"+serve(t, handle).address)
	}
	urls = append(urls,
		"https://"+serve(t, silent).address,
		"https://"+serveTLS(t, newAuthority(t).issue(t, nil), silent).address,
		"https://"+serveTLS(t, ca.issue(t, nil), gigabyte).address,
	)
	_, refusing := h2(t, ca, nil, func(f *http2.Framer, s uint32) { _ = f.WriteRSTStream(s, http2.ErrCodeRefusedStream) })
	_, leaving := h2(t, ca, nil, func(f *http2.Framer, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) })
	flooding := ca.serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	urls = append(urls, refusing, leaving, flooding)
	require.Len(t, urls, 20)
	return urls
}

func gzipBomb(t testing.TB) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(make([]byte, 16<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// besiege keeps posting to every hostile receiver, with as many slots for each and a pause after each attempt, until the
// returned function is called.
func besiege(t testing.TB, s *Sender, urls []string, slots int, pause time.Duration) (attempts *atomic.Int64, end func()) {
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
					s.Post(t.Context(), p)
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

// memoryInUse is what the process holds for objects and stacks.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	var total int64
	for _, s := range samples {
		total += int64(s.Value.Uint64())
	}
	return total
}

// The bound holds the twenty receivers too, which run in the same process.
func TestSender_BesideTwentyHostileReceivers_ServesTheGoodOneInBoundedMemory(t *testing.T) {
	const slots, bound = 6, 48 << 20
	ca := newAuthority(t)
	good := serve(t, answering(ok, nil))
	s := newSender(t, func(c *Config) {
		ca.trusting(c)
		c.Timeout = 5 * hasty // for the good one on a busy machine
	})
	s.patience = 100 * time.Millisecond
	urls := hostileReceivers(t, ca)
	runtime.GC()
	before := memoryInUse()
	attempts, end := besiege(t, s, urls, slots, 500*time.Millisecond)
	var most int64
	for posts := 0; posts < 20 || attempts.Load() < 600; posts++ {
		a := s.Post(t.Context(), postTo("http://"+good.address))
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
				ca.trusting(c)
				c.Timeout = 2 * hasty
			})
			end := func() {}
			if hostile {
				_, end = besiege(b, s, hostileReceivers(b, ca), 4, 500*time.Millisecond)
			}
			took := make([]time.Duration, 0, b.N)
			p := postTo("http://" + good)
			for b.Loop() {
				a := s.Post(b.Context(), p)
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
