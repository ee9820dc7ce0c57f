package metrics_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/metrics"
	"partnerdeposits/core/webhook"
)

const (
	route   = "/api/partner/v1/deposits"
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	// openMetrics is the header with which Prometheus 2.53 asks, shortened.
	openMetrics = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"
)

// asked gives the content type and the text of a scrape.
func asked(t testing.TB, r *metrics.Registry, exemplars bool, accept string) (contentType, text string) {
	t.Helper()
	w, request := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	request.Header.Set("Accept", accept)
	r.Handler(exemplars).ServeHTTP(w, request)
	body, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	contentType, _, _ = strings.Cut(w.Header().Get("Content-Type"), ";")
	return contentType, string(body)
}

// lines gives the lines of the service's own metrics, but for the ages of readings, which differ each time.
func lines(text string) (own []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "svc_") && !strings.HasPrefix(line, "svc_reading_age_seconds") {
			own = append(own, line)
		}
	}
	return own
}

func TestExemplars_OfRecordedTraces_AreInOpenMetrics(t *testing.T) {
	t.Parallel()
	r, h, _, w := full(t)
	h.Request("partner_api", route, "POST", 201, 20*time.Millisecond, traceID)
	w.Attempted(webhook.DepositActivated, webhook.ResultSuccess, 20*time.Millisecond, traceID)
	w.Finished(webhook.DepositActivated, webhook.StatusSucceeded, 30*time.Millisecond, traceID)
	w.ReachedHealthy(30*time.Millisecond, traceID)
	w.Started(4*time.Second, traceID)
	w.Started(4*time.Second, "")
	contentType, text := asked(t, r, true, openMetrics)
	require.Equal(t, "application/openmetrics-text", contentType)
	require.True(t, strings.HasSuffix(text, "\n# EOF\n"))
	for _, bucket := range []string{
		`svc_http_request_duration_seconds_bucket{route="` + route + `",surface="partner_api",le="0.025"} 1`,
		`svc_webhook_attempt_duration_seconds_bucket{result="success",le="0.025"} 1`,
		`svc_webhook_delivery_latency_seconds_bucket{event="deposit.activated",le="0.05"} 1`,
		`svc_webhook_healthy_delivery_latency_seconds_bucket{le="0.05"} 1`,
		`svc_webhook_start_delay_seconds_bucket{le="5.0"} 2`,
	} {
		require.Contains(t, text, bucket+` # {trace_id="`+traceID+`"} `)
	}
	require.Equal(t, 5, strings.Count(text, "# {"), "a time without a trace leaves the older exemplar")
	require.Contains(t, text, "\nsvc_outbox_relayed_total 0", "a counter keeps its name")
}

// Who does not ask for OpenMetrics, and every process without traces, reads the same text as ever.
func TestExemplars_LeaveTheOtherFormatAsItIs(t *testing.T) {
	t.Parallel()
	r, h, _, w := full(t)
	_, before := asked(t, r, false, "")
	h.Request("partner_api", route, "POST", 201, 20*time.Millisecond, traceID)
	w.Started(4*time.Second, traceID)
	_, plain := asked(t, r, false, "")
	require.Len(t, lines(plain), len(lines(before))+1, "the code 201 is new")
	for _, accept := range []string{"", "text/plain;version=0.0.4", "*/*"} {
		contentType, text := asked(t, r, true, accept)
		require.Equal(t, "text/plain", contentType, accept)
		require.Equal(t, lines(plain), lines(text), accept)
	}
	contentType, text := asked(t, r, false, openMetrics)
	require.Equal(t, "text/plain", contentType)
	require.Equal(t, lines(plain), lines(text))
	require.Contains(t, text, `svc_webhook_start_delay_seconds_bucket{le="5"} 1`)
	require.NotContains(t, text, "trace_id")
}

func TestExemplars_WithoutATrace_AllocateNothing(t *testing.T) {
	r, _, _, w := full(t)
	_, _ = asked(t, r, true, openMetrics)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		w.ReachedHealthy(30*time.Millisecond, "")
		w.Started(4*time.Second, "")
	}))
}

func BenchmarkRequest(b *testing.B) {
	_, h, _, _ := full(b)
	for name, id := range map[string]string{"without a trace": "", "with an exemplar": traceID} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.Request("partner_api", route, "POST", 201, 20*time.Millisecond, id)
			}
		})
	}
}

func BenchmarkDelivery(b *testing.B) {
	_, _, _, w := full(b)
	for name, id := range map[string]string{"without a trace": "", "with exemplars": traceID} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.Started(time.Millisecond, id)
				w.Attempted(webhook.DepositActivated, webhook.ResultSuccess, 20*time.Millisecond, id)
				w.Finished(webhook.DepositActivated, webhook.StatusSucceeded, 30*time.Millisecond, id)
				w.ReachedHealthy(30*time.Millisecond, id)
			}
		})
	}
}
