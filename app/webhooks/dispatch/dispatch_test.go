//go:build !unit

package dispatch_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/redistest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestDispatch_EveryEvent_ReachesItsReceiverOnceAndSigned(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	sub := f.subscribe(r.URL)
	f.run()
	f.emit(webhook.EventDepositActivated, 200)
	f.allIn(webhook.DeliveryStateSucceeded, 200)
	got := r.all()
	require.Len(t, got, 200)
	bodies := map[string]bool{}
	for _, g := range got {
		require.True(t, g.valid)
		require.Equal(t, "deposit.activated", g.event)
		bodies[g.body] = true
	}
	require.Len(t, bodies, 200)
	list, err := f.Postgres.Deliveries.Deliveries(t.Context(), sub, webhookports.DeliveryFilter{}, ports.Page{Limit: 100})
	require.NoError(t, err)
	require.Len(t, list.Items, 100)
	for _, d := range list.Items {
		require.Len(t, d.AttemptLog, 1)
		require.Equal(t, 200, d.AttemptLog[0].ResponseStatus)
		require.False(t, d.DeliveredAt.IsZero())
	}
}

// The third attempt follows a rotation of the secret.
func TestDispatch_ARetry_HasTheSameBytesAndAFreshSignature_AndEachAttemptIsLogged(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(_ received, earlier int) int {
		if earlier < 2 {
			return http.StatusInternalServerError
		}
		return http.StatusNoContent
	})
	sub := f.subscribe(r.URL)
	var log lines
	stop := f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Schedule = webhook.RetrySchedule{0, 1200 * time.Millisecond, 1200 * time.Millisecond}
	})
	f.emit(webhook.EventDepositCancelled, 1)
	f.eventually("the second attempt", func() bool { return f.Count("deliveries", "state = 0 AND attempts = 2") == 1 })
	r.rotate("svc_whsec_second")
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Subscriptions.SetSigningSecret(ctx, sub, "svc_whsec_second")
	})
	f.allIn(webhook.DeliveryStateSucceeded, 1)
	stop()
	got := r.all()
	require.Len(t, got, 3)
	for i, g := range got {
		require.True(t, g.valid, "signed with the secret in force")
		require.Equal(t, got[0].body, g.body)
		for _, o := range got[:i] {
			require.NotEqual(t, o.timestamp, g.timestamp)
			require.NotEqual(t, o.signature, g.signature)
		}
	}
	for attempt, consequence := range []string{"status=500 ", "status=500 ", "status=204 "} {
		require.Regexp(t, fmt.Sprintf(`msg="delivery attempted" .* attempt=%d .*%s`, attempt+1, consequence), log.String())
	}
	require.Equal(t, 3, strings.Count(log.String(), "delivery attempted"))
}

func TestDispatch_ADeletedSubscription_ReceivesNothingMore(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int { return http.StatusInternalServerError })
	sub := f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule = webhook.RetrySchedule{0, 3 * time.Second, 3 * time.Second} // so long that all five wait at once
	})
	f.emit(webhook.EventDepositCaptured, 5)
	f.eventually("five first attempts", func() bool { return f.states()[webhook.DeliveryStateWaiting] == 5 })
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Subscriptions.Delete(ctx, sub, now())
	})
	before := len(r.all())
	f.allIn(webhook.DeliveryStateCancelled, 5)
	f.emit(webhook.EventDepositCaptured, 5)
	other := newReceiver(t, nil)
	f.subscribe(other.URL)
	f.emit(webhook.EventDepositCaptured, 1)
	f.eventually("a later event reaches the next subscription", func() bool { return len(other.all()) > 0 })
	require.Len(t, r.all(), before)
}

func TestDispatch_ADisabledSubscription_ParksUntilItIsEnabled(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	sub := f.subscribe(r.URL)
	enable := func(on bool) {
		f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
			s, err := repos.Subscriptions.LockRow(ctx, f.partner, sub)
			if err != nil {
				return err
			}
			s.Enabled, s.DisabledReason = on, ""
			if !on {
				s.DisabledReason = webhook.DisabledByPartner
			}
			return repos.Subscriptions.Update(ctx, s, webhook.UnparkedDeliveriesPerSecond)
		})
	}
	enable(false)
	f.run()
	f.emit(webhook.EventDepositCaptured, 7)
	f.eventually("parked", func() bool { return f.states()[webhook.DeliveryStateWaiting] == 7 })
	require.Empty(t, r.all())
	enable(true)
	f.allIn(webhook.DeliveryStateSucceeded, 7)
	require.Len(t, r.all(), 7)
}

func TestDispatch_RedisFlushed_LosesNothing(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.Timeout = time.Second })
	for range 10 {
		f.emit(webhook.EventDepositActivated, 50)
		require.NoError(t, f.redis.FlushDB(t.Context()).Err())
	}
	f.allIn(webhook.DeliveryStateSucceeded, 500)
	require.Len(t, r.all(), 500, "and repeats nothing")
}

func TestDispatch_RedisAway_DeliversFromHere(t *testing.T) {
	server := redistest.StartServer(t)
	f := newFixtureOn(t, redistest.ServerClient(t, server))
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.run()
	f.emit(webhook.EventDepositActivated, 10)
	f.allIn(webhook.DeliveryStateSucceeded, 10)
	require.NoError(t, server.Kill())
	f.emit(webhook.EventDepositActivated, 100)
	f.allIn(webhook.DeliveryStateSucceeded, 110)
	require.NoError(t, server.Restart(t.Context()))
	f.emit(webhook.EventDepositActivated, 10)
	f.allIn(webhook.DeliveryStateSucceeded, 120)
	require.Len(t, r.all(), 120)
}

func TestDispatch_ALeaseThatRanOut_IsDispatchedAgain(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.emit(webhook.EventDepositActivated, 5)
	stop := f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Queue = lostJobs{d.Queue}
		c.Lease = 4 * time.Second
	})
	f.eventually("claimed", func() bool { return f.states()[webhook.DeliveryStateDispatched] == 5 })
	stop()
	require.Empty(t, r.all())
	f.run()
	f.allIn(webhook.DeliveryStateSucceeded, 5)
	require.Len(t, r.all(), 5)
}

// lostJobs accepts every job and loses it at once.
type lostJobs struct{ webhookports.JobQueue }

func (lostJobs) Enqueue(context.Context, []webhookports.DeliveryJob) ([]webhookports.DeliveryJob, error) {
	return nil, nil
}

func TestDispatch_APoisonedRow_StopsNoOther(t *testing.T) {
	f := newFixture(t)
	good, bad := newReceiver(t, nil), newReceiver(t, nil)
	f.subscribe(good.URL)
	spoiled := f.subscribe(bad.URL)
	_, err := f.Pool.Exec(t.Context(), `UPDATE webhook_subscriptions SET secret = '\x00' WHERE id = $1`, spoiled)
	require.NoError(t, err)
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Sender = &panicky{Sender: d.Sender} })
	f.emit(webhook.EventDepositActivated, 20)
	f.eventually("the good ones", func() bool { return f.states()[webhook.DeliveryStateSucceeded] == 19 })
	require.Empty(t, bad.all())
}

// panicky panics for the first body of all.
type panicky struct {
	webhookports.Sender
	poisoned atomic.Pointer[string]
}

func (p *panicky) Post(ctx context.Context, d *webhookports.Delivery, signedAt time.Time) webhook.Attempt {
	body := string(d.Body)
	p.poisoned.CompareAndSwap(nil, &body)
	if *p.poisoned.Load() == body {
		panic("a poisoned row")
	}
	return p.Sender.Post(ctx, d, signedAt)
}

func TestDispatch_AHangingEndpoint_HoldsNoOther(t *testing.T) {
	f := newFixture(t)
	release := make(chan struct{})
	hanging := newReceiver(t, func(received, int) int { <-release; return http.StatusOK })
	t.Cleanup(func() { close(release) })
	good := newReceiver(t, nil)
	f.subscribe(hanging.URL, webhook.EventDepositCaptured)
	f.subscribe(good.URL, webhook.EventDepositActivated)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.Concurrency = 24 })
	f.emit(webhook.EventDepositCaptured, 300)
	f.eventually("the slots of the hanging endpoint are taken", func() bool { return len(hanging.all()) >= 16 })
	f.emit(webhook.EventDepositActivated, 300)
	f.eventually("the good ones", func() bool { return len(good.all()) == 300 })
	require.LessOrEqual(t, len(hanging.all()), 64, "never more than its slots at once")
}

func TestDispatch_ABacklogBeyondTheWindow_Drains(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.emit(webhook.EventDepositActivated, 3000)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.Window = 100 })
	f.allIn(webhook.DeliveryStateSucceeded, 3000)
	require.Len(t, r.all(), 3000)
}

func TestDispatch_TwoDispatchers_ShareTheWork(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.run()
	stop := f.run()
	for range 5 {
		f.emit(webhook.EventDepositActivated, 100)
	}
	stop()
	f.emit(webhook.EventDepositActivated, 100)
	f.allIn(webhook.DeliveryStateSucceeded, 600)
	require.Len(t, r.all(), 600)
}

func TestDispatch_ATest_GoesAheadOfABacklogAndIsNeverRetried(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int { return http.StatusInternalServerError })
	sub := f.subscribe(r.URL)
	f.emit(webhook.EventDepositActivated, 500)
	test := webhook.Delivery{ID: newID(), SubscriptionID: sub, EventID: newID(), Event: webhook.EventDepositActivated,
		Test: true, CreatedAt: now(), Body: []byte(`{"test":true}`)}
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.Window = 1 })
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Deliveries.InsertTest(ctx, test)
	})
	f.eventually("the test ends", func() bool {
		d, err := f.Postgres.Deliveries.Delivery(t.Context(), sub, test.ID)
		return err == nil && d.State == webhook.DeliveryStateFailed
	})
	d, err := f.Postgres.Deliveries.Delivery(t.Context(), sub, test.ID)
	require.NoError(t, err)
	require.Len(t, d.AttemptLog, 1)
	require.Equal(t, test.Body, d.Body)
	n := 0
	for _, g := range r.all() {
		if strings.Contains(g.body, "test") {
			n++
		}
	}
	require.Equal(t, 1, n)
}

func TestDispatch_FiveDaysOfFailures_DisableAndTellTheContact(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int { return http.StatusInternalServerError })
	sub := f.subscribe(r.URL)
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 3, failing_since = now() - interval '5 days' WHERE id = $1`, sub)
	require.NoError(t, err)
	f.run()
	f.emit(webhook.EventDepositActivated, 1)
	f.eventually("disabled", func() bool {
		s, err := f.Postgres.Subscriptions.Subscription(t.Context(), f.partner, sub)
		return err == nil && !s.Enabled && s.DisabledReason == webhook.DisabledByFailure
	})
	require.Equal(t, webhook.EndpointDisabled, f.report(sub).State)
	require.Equal(t, map[string]int{"Your webhook was disabled": 1}, f.mailed())
	require.Contains(t, f.ListMails("ops@demo.example")[0].Body, id.Subscription.Of(sub))
	f.eventually("parked", func() bool { return f.Count("deliveries", "state = 0 AND due_at IS NULL") == 1 })
}
