//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

// Claims from before the circuit opened are released, so that only a probe is sent.
func TestDispatch_AnOpenCircuit_ReleasesTheClaimsThatWait(t *testing.T) {
	const slots, claimed = 16, 100
	f := newFixture(t)
	first, later, posts := make(chan struct{}), make(chan struct{}), make(chan struct{}, claimed)
	var n atomic.Int32
	r := newReceiver(t, func(received, int) int {
		posts <- struct{}{}
		if n.Add(1) <= slots {
			<-first
		} else {
			<-later
		}
		return http.StatusInternalServerError
	})
	fail, failLater := sync.OnceFunc(func() { close(first) }), sync.OnceFunc(func() { close(later) })
	t.Cleanup(func() { fail(); failLater() })
	sub := f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.EndpointConcurrency, c.Timeout, c.Lease = slots, time.Minute, 5*time.Minute
		c.Schedule = webhook.RetrySchedule{0, time.Hour, time.Hour}
	})
	f.emit(webhook.EventDepositCancelled, claimed)
	for range slots {
		select {
		case <-posts:
		case <-time.After(30 * time.Second):
			require.Fail(t, "not every slot is used")
		}
	}

	f.eventually("the others are claimed", func() bool { return f.Count("deliveries", `state = 1`) == claimed })
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour', holds = 9 WHERE id = $1`,
		sub)
	require.NoError(t, err)
	fail()
	f.eventually("they are given back", func() bool { return f.Count("deliveries", `state = 0 AND attempts = 0`) >= claimed/2 })
	failLater()
	f.eventually("and nothing is under way", func() bool { return f.Count("deliveries", `state = 1`) == 0 })
	require.LessOrEqual(t, f.Count("deliveries", `attempts > 0`), claimed/2)
}

// cutOff gives two partners an endpoint each, which break every connection while cut is set.
func (f *fixture) cutOff(cut *atomic.Bool) (subs []id.ID) {
	for _, slug := range []string{"first", "second"} {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if cut.Load() {
				panic(http.ErrAbortHandler)
			}
		}))
		f.t.Cleanup(server.Close)
		f.partner = f.CreatePartnerWithSecret(slug, "", func(p *partner.Partner) { p.ContactEmail = slug + "@demo.example" }).ID
		subs = append(subs, f.subscribe(server.URL))
		f.emit(webhook.EventDepositActivated, 1)
	}
	return subs
}

// While our own way out is broken, waits for probes are short, nothing is disabled, and nobody is mailed. After the
// repair, retries do not wait for their time.
func TestOutbound_Broken_BlamesNoEndpoint_AndDeliversSoonAfterTheRepair(t *testing.T) {
	f := newFixture(t)
	var cut, broken atomic.Bool
	cut.Store(true)
	subs := f.cutOff(&cut)
	var counted reached
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Metrics, d.OutboundBroken = &counted, broken.Store
		c.Schedule = webhook.RetrySchedule{0, time.Hour, time.Hour, time.Hour}
	})
	for _, sub := range subs {
		f.becomes(sub, webhook.EndpointFailing)
	}
	f.exec(`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '6 days', holds = 9`)
	f.eventually("the break is noticed", broken.Load)
	f.emit(webhook.EventDepositActivated, 1) // to the second
	f.becomes(subs[1], webhook.EndpointHeld)
	require.Equal(t, 1, f.Count("webhook_subscriptions",
		`holds = 4 AND held_until < now() + interval '16 seconds'`))
	require.Equal(t, 2, f.Count("webhook_subscriptions", "enabled"), "days of failures disable nothing now")
	f.emit(webhook.EventDepositActivated, 3) // held back
	require.Empty(t, f.mailed())
	require.Equal(t, 1, f.Count("webhook_notices", "put_off AND mail_at > now()"), "the notice waits")

	cut.Store(false)
	f.exec(`UPDATE webhook_subscriptions SET held_until = now() WHERE held_until IS NOT NULL`) // 16 s pass
	f.allIn(webhook.DeliveryStateSucceeded, 6)
	f.eventually("the end is noticed", func() bool { return !broken.Load() })
	f.exec(`UPDATE webhook_notices SET mail_at = now()`)
	require.Empty(t, f.mailed(), "it is over")
	require.Zero(t, f.Count("webhook_notices", "NOT put_off"))
	f.emit(webhook.EventDepositActivated, 20) // ends the ramp
	f.becomes(subs[1], webhook.EndpointHealthy)
}

func (f *fixture) report(sub id.ID) webhook.EndpointReport {
	f.t.Helper()
	got, err := f.Postgres.Subscriptions.HealthReports(context.WithoutCancel(f.t.Context()),
		[]webhook.Subscription{{ID: sub}})
	require.NoError(f.t, err)
	return got[0].Health
}

func (f *fixture) becomes(sub id.ID, want webhook.EndpointState) (r webhook.EndpointReport) {
	f.t.Helper()
	f.eventually("the endpoint is "+string(want), func() bool {
		r = f.report(sub)
		return r.State == want
	})
	return r
}

// reached counts the successes of healthy endpoints.
type reached struct {
	noMetrics
	n, starts atomic.Int32
	longest   atomic.Int64
}

func (r *reached) ObserveStartDelay(delay time.Duration, _ string) {
	r.starts.Add(1)
	r.longest.Store(max(r.longest.Load(), int64(delay)))
}

func (r *reached) ObserveHealthyLatency(latency time.Duration, _ string) {
	if latency > 0 {
		r.n.Add(1)
	}
}

// A receiver takes, refuses and takes deliveries again; the report follows.
func TestHealth_OfAScriptedReceiver_IsReported(t *testing.T) {
	f := newFixture(t)
	var status atomic.Int32
	status.Store(http.StatusOK)
	r := newReceiver(t, func(received, int) int { return int(status.Load()) })
	sub := f.subscribe(r.URL)
	fresh := f.report(sub)
	require.Equal(t, []any{webhook.EndpointHealthy, 0, true, true},
		[]any{fresh.State, fresh.Pending, fresh.LastSuccessAt.IsZero(), fresh.LastFailureAt.IsZero()})
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule = webhook.RetrySchedule{0, 200 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond,
			200 * time.Millisecond, time.Hour}
	})
	began := time.Now()
	f.emit(webhook.EventDepositActivated, 1)
	f.allIn(webhook.DeliveryStateSucceeded, 1)
	took := f.report(sub)
	require.Equal(t, []any{webhook.EndpointHealthy, 0}, []any{took.State, took.Pending})
	require.WithinRange(t, took.LastSuccessAt, began.Add(-time.Second), time.Now().Add(time.Second))
	require.True(t, fresh.Since.Equal(took.Since), "the state goes on")

	status.Store(http.StatusInternalServerError)
	event := f.emit(webhook.EventDepositActivated, 1)[0]
	failing := f.becomes(sub, webhook.EndpointFailing)
	require.Equal(t, []any{webhook.ResultNon2xx, 1}, []any{failing.LastError, failing.Pending})
	require.True(t, event.Time().Equal(failing.OldestPendingAt), "%v", failing.OldestPendingAt)
	require.WithinRange(t, failing.Since, took.LastSuccessAt, time.Now().Add(time.Second))
	require.False(t, failing.LastFailureAt.Before(took.LastSuccessAt))

	status.Store(http.StatusOK)
	f.allIn(webhook.DeliveryStateSucceeded, 2)
	back := f.report(sub)
	require.Equal(t, []any{webhook.EndpointHealthy, webhook.ResultNon2xx, 0},
		[]any{back.State, back.LastError, back.Pending})
	require.True(t, back.LastSuccessAt.After(back.LastFailureAt), "a success after a failure is noted at once")
	require.True(t, back.Since.After(failing.Since))

	status.Store(http.StatusInternalServerError)
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour', holds = 2 WHERE id = $1`,
		sub)
	require.NoError(t, err)
	f.emit(webhook.EventDepositActivated, 5)
	held := f.becomes(sub, webhook.EndpointHeld)
	require.True(t, held.Since.After(back.Since))
	require.NotZero(t, held.Pending)
	status.Store(http.StatusOK)
	f.emit(webhook.EventDepositActivated, 40)
	require.Zero(t, func() int { f.allIn(webhook.DeliveryStateSucceeded, 47); return f.report(sub).Pending }())
	recovered := f.becomes(sub, webhook.EndpointHealthy)
	require.True(t, recovered.Since.After(held.Since))
}

func (f *fixture) passes(span time.Duration) {
	f.t.Helper()
	until := time.Now().Add(span)
	f.eventually("time passes", func() bool { return time.Now().After(until) })
}

// The due time passes through the relay, the queue and the worker.
func TestStartDelay_WhileNoDispatcherRuns_CountsTheWait(t *testing.T) {
	f := newFixture(t)
	f.subscribe(newReceiver(t, nil).URL)
	f.emit(webhook.EventDepositActivated, 3)
	f.passes(1500 * time.Millisecond)
	var counted reached
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Metrics = &counted })
	f.allIn(webhook.DeliveryStateSucceeded, 3)
	f.eventually("each start is counted", func() bool { return counted.starts.Load() == 3 && counted.n.Load() == 3 })
	require.Greater(t, time.Duration(counted.longest.Load()), 1500*time.Millisecond)
	require.Less(t, time.Duration(counted.longest.Load()), 30*time.Second)
}

// A receiver that fails for a while has a backlog then. Its wait is the partner's doing.
func TestStartDelay_OfABacklogOfAFailingReceiver_IsNotCounted(t *testing.T) {
	f := newFixture(t)
	var status atomic.Int32
	status.Store(http.StatusInternalServerError)
	r := newReceiver(t, func(received, int) int { return int(status.Load()) })
	sub := f.subscribe(r.URL)
	var counted reached
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Metrics, c.Schedule = &counted, make(webhook.RetrySchedule, 1000)
		for i := range c.Schedule {
			c.Schedule[i] = 100 * time.Millisecond
		}
		c.Schedule[0] = 0
	})
	f.emit(webhook.EventDepositActivated, 100)
	f.becomes(sub, webhook.EndpointFailing)
	f.passes(4 * time.Second)
	status.Store(http.StatusOK)
	f.allIn(webhook.DeliveryStateSucceeded, 100)
	f.becomes(sub, webhook.EndpointHealthy)
	f.emit(webhook.EventDepositActivated, 1)
	f.eventually("healthy again, starts count", func() bool { return counted.starts.Load() > 0 })
	require.Less(t, time.Duration(counted.longest.Load()), 3*time.Second)
}

// A full endpoint holds its own deliveries back: those that are claimed, and those that find no room in the window.
func TestStartDelay_BehindTheEndpointsOwnPOSTs_IsNotCounted(t *testing.T) {
	f := newFixture(t)
	release := make(chan struct{})
	r := newReceiver(t, func(received, int) int { <-release; return http.StatusOK })
	free := sync.OnceFunc(func() { close(release) })
	t.Cleanup(free)
	f.subscribe(r.URL)
	var counted reached
	f.run(func(d *dispatch.Deps, c *dispatch.Config) { d.Metrics, c.EndpointConcurrency = &counted, 1 })
	f.emit(webhook.EventDepositActivated, 20)
	f.eventually("the window is full, and its first POST is in flight", func() bool {
		return f.Count("deliveries", `state = 1`) == 8 && len(r.all()) == 1
	})
	free()
	f.allIn(webhook.DeliveryStateSucceeded, 20)
	f.eventually("the first is counted", func() bool { return counted.n.Load() == 1 })
	require.EqualValues(t, 1, counted.starts.Load())
}
