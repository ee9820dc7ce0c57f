//go:build !unit

package dispatch_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
)

// BenchmarkDispatch_Backlog drains a backlog: the cost of a delivery from the outbox to the recorded attempt.
func BenchmarkDispatch_Backlog(b *testing.B) {
	f := newFixture(b)
	var taken atomic.Int64
	all := make(chan struct{})
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if taken.Add(1) == int64(b.N) {
			close(all)
		}
	}))
	b.Cleanup(r.Close)
	f.subscribe(r.URL)
	for left := b.N; left > 0; left -= 1000 {
		f.emit(webhook.DepositActivated, min(left, 1000))
	}
	b.ResetTimer()
	stop := f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule, c.Timeout = webhook.DefaultSchedule, 10*time.Second
		c.Concurrency, c.EndpointConcurrency = 256, 64
	})
	<-all
	b.StopTimer()
	stop()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}
