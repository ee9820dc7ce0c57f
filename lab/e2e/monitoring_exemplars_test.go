package e2e_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/rarely"
)

// Debian's Prometheus reads both processes, and stores the exemplars of request and delivery.
func TestExemplars_AreStoredByPrometheus_AndNameTheTrace(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.MonitoringTests) {
		return
	}
	c := newCollector(t)
	w := newWorld(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url)
	h, d, r := w.http(t), w.dispatcher(t), newReceiver(t)
	w.subscribe(t, r, "deposit.cancelled")
	depositID, _ := w.deposit(t, w.link(t, "villa-46"))
	p := startPrometheus(t, prometheusOf{targets: map[string][]*process{"http": {h}, "dispatcher": {d}},
		flags: []string{"--enable-feature=exemplar-storage"}})
	w.api(t).post("/deposits/"+depositID+"/cancel", nil, nil)
	r.await(t, 1)
	const cancel = `{route="/api/partner/v1/deposits/:depositId/cancel"}`
	traces := map[string]bool{}
	for _, query := range []string{"svc_http_request_duration_seconds_bucket" + cancel,
		`svc_webhook_delivery_latency_seconds_bucket{event="deposit.cancelled"}`, "svc_webhook_start_delay_seconds_bucket",
		"svc_webhook_healthy_delivery_latency_seconds_bucket", "svc_webhook_attempt_duration_seconds_bucket"} {
		require.Eventually(t, func() bool {
			found := p.exemplars(t, query)
			for _, trace := range found {
				traces[trace] = true
			}
			return len(found) > 0
		}, soon, 10*often, query)
	}
	var buckets []series
	require.Eventually(t, func() bool {
		buckets = p.evaluate(t, `sum(svc_webhook_start_delay_seconds_bucket{le=~"5|5.0"}) > 0`,
			shownSpan{from: time.Now().Add(-2 * time.Second), to: time.Now(), step: time.Second})
		return len(buckets) == 1
	}, soon, 10*often, "the bucket that the objective of the start reads")
	require.Zero(t, h.stop(t))
	require.Zero(t, d.stop(t))
	request := c.named("POST /api/partner/v1/deposits/:depositId/cancel")
	require.Len(t, request, 1)
	require.Equal(t, map[string]bool{request[0].trace(): true}, traces, "request and delivery name the same trace")
}

// exemplars gives the traces that a query has had in the last minute.
func (p prometheus) exemplars(t testing.TB, query string) (traces []string) {
	t.Helper()
	var found []struct {
		Exemplars []struct{ Labels map[string]string }
	}
	now := time.Now()
	p.ask(t, "query_exemplars", url.Values{"query": {query}, "start": {unixTime(now.Add(-time.Minute))},
		"end": {unixTime(now.Add(time.Minute))}}, &found)
	for _, s := range found {
		for _, e := range s.Exemplars {
			traces = append(traces, e.Labels["trace_id"])
		}
	}
	return traces
}
