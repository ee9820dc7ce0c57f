package webhook

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// BenchmarkPost measures a POST over idle connections to a minimal receiver. cpu-us/op counts this process with the
// receiver. BenchmarkBareExchange measures the receiver and the kernel without the sender.
func BenchmarkPost(b *testing.B) {
	answers := map[string]string{
		"no body":    "HTTP/1.1 204 No Content\r\n\r\n",
		"small body": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok",
	}
	for name, answer := range answers {
		b.Run(name, func(b *testing.B) {
			address := minimalReceiver(b, answer)
			s := NewSender(Config{Timeout: 10 * time.Second, EndpointConcurrency: 64, AllowInsecure: true, UserAgent: "bench/1"})
			b.Cleanup(s.Close)
			p := benchPost("http://" + address + "/hook?a=b")
			b.ReportAllocs()
			b.SetParallelism(16)
			measureCPU(b, func() {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if a := s.Post(b.Context(), p, signedAt); !a.OK() {
							b.Error(a.Detail)
							return
						}
					}
				})
			})
		})
	}
}

// BenchmarkBareExchange writes the same bytes and reads the same answer on bare sockets.
func BenchmarkBareExchange(b *testing.B) {
	address := minimalReceiver(b, "HTTP/1.1 204 No Content\r\n\r\n")
	request, err := http.NewRequest(http.MethodPost, "http://"+address+"/hook", bytes.NewReader(benchPost("").Body))
	require.NoError(b, err)
	var wire bytes.Buffer
	require.NoError(b, request.Write(&wire))
	b.SetParallelism(16)
	measureCPU(b, func() {
		b.RunParallel(func(pb *testing.PB) {
			c, err := net.Dial("tcp", address)
			if err != nil {
				b.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			answer := make([]byte, 256)
			for pb.Next() {
				_, _ = c.Write(wire.Bytes())
				if _, err := c.Read(answer); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

func benchPost(url string) *webhookports.Delivery {
	return &webhookports.Delivery{
		URL: url, Event: webhook.DepositActivated, Secret: "svc_whsec_bench",
		Body: []byte(`{"event":"deposit.activated","data":"` + strings.Repeat("x", 560) + `"}`),
	}
}

func measureCPU(b *testing.B, run func()) {
	b.Helper()
	b.ResetTimer()
	before := cpuTime(b)
	run()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1e3/float64(b.N), "cpu-us/op")
}

func cpuTime(tb testing.TB) time.Duration {
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// minimalReceiver answers every request on a connection with the same bytes.
func minimalReceiver(tb testing.TB, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerAlways(c, []byte(answer))
		}
	}()
	return l.Addr().String()
}

func answerAlways(c net.Conn, answer []byte) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReader(c)
	for {
		length := 0
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := r.Discard(length); err != nil {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}
