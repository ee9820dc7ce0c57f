package e2e_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

const (
	httpProcess       = "partnerdeposits-http"
	dispatcherProcess = "partnerdeposits-dispatcher"
)

// TestTraces_FromTheRequestToThePOST_ThroughAGroupAndARetry: each delivery of a job stays in the trace of its own
// request, and so does its retry.
func TestTraces_FromTheRequestToThePOST_ThroughAGroupAndARetry(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	w := newWorld(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "WEBHOOK_RETRY_SCHEDULE=0s,200ms,1s,1s")
	h, r := w.http(t), newReceiver(t)
	w.subscribe(t, r, "deposit.cancelled", "deposit.activated")
	account := w.link(t, "villa-16")
	// The dispatcher queues a job of nine deliveries after it has committed their claims. It may queue a job of up to
	// eight before that, and a worker that waits in vain for the commit leaves the delivery to another job.
	const cancels = 8
	for range cancels {
		depositID, _ := w.deposit(t, account)
		w.api(t).post("/deposits/"+depositID+"/cancel", nil, nil)
	}
	activated, _ := w.deposit(t, account)
	w.api(t).post("/test/deposits/"+activated+"/simulate", map[string]string{"outcome": "activate"}, nil)
	r.AnswerWith(func(n int, _ receiver.Webhook) int {
		if n == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	d := w.dispatcher(t) // only now, so that a batch holds all events and a job several deliveries
	r.await(t, cancels+1)
	require.Zero(t, h.stop(t))
	require.Zero(t, d.stop(t))

	cancelled := c.named("POST /api/partner/v1/deposits/:depositId/cancel")
	require.Len(t, cancelled, cancels)
	traces, attempts := map[string]bool{}, 0
	for _, request := range cancelled {
		require.Equal(t, httpProcess, request.process)
		attempts += requireDelivered(t, c, request, "change")
		traces[request.trace()] = true
	}
	simulated := c.named("POST /api/partner/v1/test/deposits/:depositId/simulate")
	require.Len(t, simulated, 1)
	attempts += requireDelivered(t, c, simulated[0], "transaction")
	traces[simulated[0].trace()] = true
	require.Len(t, traces, cancels+1, "each request has a trace of its own")
	require.Equal(t, cancels+2, attempts, "nine deliveries, and the retry of one")

	group := slices.MaxFunc(c.named("job"), func(a, b span) int { return cmp.Compare(len(a.Links), len(b.Links)) })
	require.Equal(t, dispatcherProcess, group.process)
	require.Greater(t, len(group.Links), 1, "a job sends several deliveries")
	require.GreaterOrEqual(t, group.number("deliveries"), int64(len(group.Links)))
	require.NotContains(t, traces, group.trace(), "a job belongs to no single trace")
	for _, s := range c.named("deliver") {
		linked := 0
		for _, job := range c.named("job") {
			if job.linksTo(s) && s.linksTo(job) {
				linked++
			}
		}
		require.Equal(t, 1, linked, "deliver and job link to each other")
	}
	for _, got := range r.All() {
		require.Empty(t, got.Header.Get("Traceparent")+got.Header.Get("Tracestate")+got.Header.Get("Baggage"),
			"receivers learn nothing of traces")
	}
	requireNoPolls(t, c)
	for _, secret := range []string{w.apiKey, w.connectSecret, r.Secret(), "correct-horse", "villa-16@example.com", r.URL,
		"partner.example", `"amountCents"`} {
		require.NotContains(t, c.text(), secret)
	}
	failed := logLine(t, d.log.String(), "delivery attempted")
	require.Contains(t, traces, failed["trace_id"], "the line of a failed attempt names the trace of the request")
}

// requireDelivered follows a trace from the request through the step that commits, the relay and the delivery to the
// POST, and gives the number of attempts.
func requireDelivered(t *testing.T, c *collector, request span, commit string) int {
	t.Helper()
	var relay span
	for _, step := range c.below(request, commit) { // a request may have several transactions
		if relayed := c.below(step, "relay"); len(relayed) > 0 {
			require.Len(t, relayed, 1)
			relay = relayed[0]
		}
	}
	require.NotNil(t, relay.Span, "an event below a %q of the request", commit)
	require.Equal(t, dispatcherProcess, relay.process)
	require.EqualValues(t, 10, relay.number("batch"), "with the event of the link, which no subscription receives")
	attempts := c.below(relay, "deliver")
	require.NotEmpty(t, attempts)
	for i, deliver := range attempts {
		require.EqualValues(t, i+1, deliver.number("attempt"))
		require.Equal(t, relay.text("event.name"), deliver.text("event.name"))
		require.True(t, strings.HasPrefix(deliver.text("delivery.id"), "dlv_"), deliver.text("delivery.id"))
		post := c.only(t, deliver, "POST")
		want, status := "success", int64(http.StatusOK)
		if i < len(attempts)-1 {
			want, status = "non_2xx", http.StatusInternalServerError
		}
		require.Equal(t, want, post.text("result"))
		require.Equal(t, status, post.number("http.response.status_code"))
	}
	return len(attempts)
}

// requireNoPolls finds no trace that begins with a command to Postgres or Redis: loops would fill the collector.
func requireNoPolls(t *testing.T, c *collector) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	const client = 3 // SPAN_KIND_CLIENT
	for _, s := range c.spans {
		require.False(t, len(s.ParentSpanId) == 0 && s.Kind == client, s.Name)
	}
}

// TestTraces_TestDeliveryAndRedelivery_BelongToTheirRequests: deliveries that no relay makes have a trace, too.
func TestTraces_TestDeliveryAndRedelivery_BelongToTheirRequests(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	w := newWorld(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url)
	h, d, r := w.http(t), w.dispatcher(t), newReceiver(t)
	webhookID := w.subscribe(t, r)
	// The caller's trace is joined. Its state is the caller's own and goes no further.
	const caller, state = "0af7651916cd43dd8448eb211c80319c", "vendor=a-word-of-the-caller"
	w.api(t).with("Traceparent", "00-"+caller+"-b7ad6b7169203331-01").with("Tracestate",
		state).post("/webhooks/"+webhookID+"/test", nil, nil)
	log := w.deliveries(t, webhookID)
	require.Len(t, log, 1)
	w.api(t).post("/webhooks/"+webhookID+"/deliveries/"+log[0].ID+"/redeliver", nil, nil)
	r.await(t, 2)
	require.Zero(t, h.stop(t))
	require.Zero(t, d.stop(t))

	delivered := c.named("deliver")
	require.Len(t, delivered, 2)
	tests, again := c.named("POST /api/partner/v1/webhooks/:webhookId/test"),
		c.named("POST /api/partner/v1/webhooks/:webhookId/deliveries/:deliveryId/redeliver")
	require.Len(t, tests, 1)
	require.Len(t, again, 1)
	require.Equal(t, caller, tests[0].trace())
	require.Equal(t, caller, delivered[0].trace())
	require.Empty(t, delivered[0].TraceState)
	require.NotEqual(t, caller, again[0].trace())
	require.Equal(t, again[0].trace(), delivered[1].trace())
	for _, s := range delivered {
		require.EqualValues(t, 1, s.number("attempt"))
		c.only(t, s, "POST")
	}
}

// TestSampler_IsThatOfTheSettings: of a share of 0, only the caller's yes is recorded. Tests of process/wire have every
// sampler.
func TestSampler_IsThatOfTheSettings(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	w := newWorld(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_TRACES_SAMPLER=parentbased_traceidratio",
		"OTEL_TRACES_SAMPLER_ARG=0")
	h, d, r := w.http(t), w.dispatcher(t), newReceiver(t)
	webhookID := w.subscribe(t, r)
	const caller = "0af7651916cd43dd8448eb211c80319c"
	w.api(t).post("/webhooks/"+webhookID+"/test", nil, nil)
	w.api(t).with("Traceparent", "00-"+caller+"-b7ad6b7169203331-01").post("/webhooks/"+webhookID+"/test", nil, nil)
	r.await(t, 2)
	require.Zero(t, h.stop(t))
	require.Zero(t, d.stop(t))
	for _, name := range []string{"POST /api/partner/v1/webhooks/:webhookId/test", "deliver", "POST"} {
		found := c.named(name)
		require.Len(t, found, 1, name)
		require.Equal(t, caller, found[0].trace())
	}
}
