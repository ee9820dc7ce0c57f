//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// countingSender counts the POSTs in flight.
type countingSender struct {
	webhookports.Sender
	inFlight, most atomic.Int32
}

func (s *countingSender) Post(ctx context.Context, d *webhookports.Delivery, signedAt time.Time) webhook.Attempt {
	now := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	return s.Sender.Post(ctx, d, signedAt)
}

// countedQueue counts the claims of jobs that no worker has taken.
type countedQueue struct {
	webhookports.JobQueue
	waiting atomic.Int32
}

func (q *countedQueue) Enqueue(ctx context.Context, jobs []webhookports.DeliveryJob) (left []webhookports.DeliveryJob,
	err error) {
	for _, j := range jobs {
		q.waiting.Add(int32(len(j.Claims)))
	}
	return q.JobQueue.Enqueue(ctx, jobs)
}

func (q *countedQueue) Serve(ctx context.Context, concurrency int,
	handle func(context.Context, webhookports.DeliveryJob)) error {
	return q.JobQueue.Serve(ctx, concurrency, func(ctx context.Context, j webhookports.DeliveryJob) {
		q.waiting.Add(-int32(len(j.Claims)))
		handle(ctx, j)
	})
}

func bounded(concurrency int, counting *countingSender) func(*dispatch.Deps, *dispatch.Config) {
	return func(deps *dispatch.Deps, c *dispatch.Config) {
		counting.Sender = deps.Sender
		deps.Sender, c.Concurrency = counting, concurrency
	}
}

func TestDispatch_Concurrency_BoundsThePOSTsOfAllSubscriptionsAndTests(t *testing.T) {
	const concurrency, ofAPartner, subscriptions, events, tests = 6, 5, 5, 20, 5
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		<-time.After(10 * time.Millisecond)
		return 200
	})
	for range subscriptions {
		f.subscribe(r.URL)
	}
	sub := f.subscribe(r.URL, webhook.EventOperatorLinked)
	f.emit(webhook.EventDepositActivated, events)
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		for range tests {
			test := webhook.Delivery{ID: newID(), SubscriptionID: sub, EventID: newID(), Event: webhook.EventOperatorLinked,
				Test: true, CreatedAt: now(), Body: []byte(`{"test":true}`)}
			if err := repos.Deliveries.InsertTest(ctx, test); err != nil {
				return err
			}
		}
		return nil
	})
	var counting countingSender
	f.run(bounded(concurrency, &counting))
	f.allIn(webhook.DeliveryStateSucceeded, subscriptions*events+tests)
	require.EqualValues(t, ofAPartner, counting.most.Load())
	require.Len(t, r.all(), subscriptions*events+tests)
}

// Endpoints of the slow lane that hang take half of the slots, so the fast lane goes on.
func TestDispatch_Concurrency_HangingSlowLaneLeavesSlotsToTheFastLane(t *testing.T) {
	const concurrency, hangingSubscriptions = 8, 4
	f := newFixture(t)
	answer := make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	hanging := newReceiver(t, func(received, int) int { <-answer; return 200 })
	t.Cleanup(release)
	good := newReceiver(t, nil)
	for range hangingSubscriptions {
		f.subscribe(hanging.URL, webhook.EventDepositCaptured)
	}
	_, err := f.Pool.Exec(t.Context(), `UPDATE webhook_subscriptions SET slow = true`)
	require.NoError(t, err)
	f.subscribe(good.URL, webhook.EventDepositActivated)
	var counting countingSender
	f.run(patient(time.Minute), bounded(concurrency, &counting),
		func(_ *dispatch.Deps, c *dispatch.Config) { c.EndpointConcurrency = concurrency })
	f.emit(webhook.EventDepositCaptured, 20)
	f.eventually("the slow lane has its slots", func() bool { return len(hanging.all()) == concurrency/2 })
	f.emit(webhook.EventDepositActivated, 200)
	f.eventually("the fast lane goes on", func() bool { return len(good.all()) == 200 })
	require.Len(t, hanging.all(), concurrency/2)
	require.LessOrEqual(t, counting.most.Load(), int32(concurrency))
	release()
	f.allIn(webhook.DeliveryStateSucceeded, hangingSubscriptions*20+200)
}

// Endpoints of two partners that begin to hang, and tests to one of them, take no slot that a third partner needs.
func TestDispatch_Concurrency_EndpointsOfTwoPartnersThatHang_DelayNoThird(t *testing.T) {
	const concurrency, ofAnEndpoint, endpoints = 16, 4, 6
	f := newFixture(t)
	answer := make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	hanging := newReceiver(t, func(received, int) int { <-answer; return 200 })
	t.Cleanup(release)
	good := newReceiver(t, nil)
	f.run(patient(time.Minute), func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Concurrency, c.EndpointConcurrency = concurrency, ofAnEndpoint
	})
	var tested id.ID
	hang := func(slug string, want int) {
		f.partner = f.CreatePartnerWithSecret(slug, "").ID
		for range endpoints {
			tested = f.subscribe(hanging.URL)
		}
		f.emit(webhook.EventDepositCaptured, 10)
		f.eventually(slug, func() bool { return len(hanging.all()) == want })
	}
	hang("most", concurrency*3/4)
	hang("few", concurrency*3/4+1)
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		for range 20 {
			if err := repos.Deliveries.InsertTest(ctx, webhook.Delivery{ID: newID(), SubscriptionID: tested, EventID: newID(),
				Event: webhook.EventDepositCaptured, Body: []byte(`{}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	f.WakeScans()
	f.eventually("the tests are claimed", func() bool { return f.Count("deliveries", `test AND state = 1`) == 20 })

	f.partner = f.CreatePartnerWithSecret("third", "").ID
	f.subscribe(good.URL)
	f.emit(webhook.EventDepositActivated, 50)
	f.eventually("the third partner's deliveries arrive", func() bool { return len(good.all()) == 50 })
	require.Len(t, hanging.all(), concurrency*3/4+1)
	release()
	f.allIn(webhook.DeliveryStateSucceeded, 2*endpoints*10+20+50)
}

// A dispatcher that stops while all slots are in use finishes its POSTs and releases the claims that wait. Jobs that no
// worker took stay in the queue for the next dispatcher.
func TestDispatch_Concurrency_StopsWhileAllSlotsAreInUse(t *testing.T) {
	const concurrency, events = 4, 40
	f := newFixture(t)
	answer := make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	r := newReceiver(t, func(received, int) int { <-answer; return 200 })
	t.Cleanup(release)
	for range 3 {
		f.subscribe(r.URL)
	}
	f.emit(webhook.EventDepositActivated, events)
	var counting countingSender
	var queue countedQueue
	stop := f.run(patient(time.Minute), bounded(concurrency, &counting), func(deps *dispatch.Deps, _ *dispatch.Config) {
		queue.JobQueue, deps.Queue = deps.Queue, &queue
	})
	f.eventually("all slots are in use", func() bool { return len(r.all()) >= concurrency*3/4 })
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	f.eventually("the claims that wait are released",
		func() bool {
			return f.states()[webhook.DeliveryStateDispatched] <= concurrency+int(queue.waiting.Load())
		})
	release()
	select {
	case <-stopped:
	case <-time.After(30 * time.Second):
		require.Fail(t, "the dispatcher does not stop")
	}
	f.run()
	f.allIn(webhook.DeliveryStateSucceeded, 3*events)
	require.Len(t, r.all(), 3*events, "nothing is sent twice")
}

// again returns the service that redelivers, and a caller for it.
func (f *fixture) again() (*webhooks.Service, partner.Caller) {
	return webhooks.New(webhooks.Deps{
		UnitOfWork: f.Postgres, Subscriptions: f.Postgres.Subscriptions, Deliveries: f.Postgres.Deliveries,
		Replays: f.Postgres.Replays, Audit: f.Postgres.Audit, Doorbell: f, Clock: system.Clock{}, Entropy: system.Entropy{},
		After: time.After,
	}), partner.Caller{Partner: partner.Partner{ID: f.partner}}
}

// log gives the deliveries of sub, the newest first.
func (f *fixture) log(sub id.ID) []webhook.Delivery {
	f.t.Helper()
	list, err := f.Postgres.Deliveries.Deliveries(context.WithoutCancel(f.t.Context()), sub, webhookports.DeliveryFilter{},
		ports.Page{Limit: 100})
	require.NoError(f.t, err)
	return list.Items
}

func TestDispatch_WhatIsNeverTaken_EndsAsFailed_ARedeliveryLikeAnyOther_ATestAtOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int { return http.StatusTeapot })
	sub := f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule = webhook.RetrySchedule{0, 10 * time.Millisecond}
	})
	f.emit(webhook.EventDepositActivated, 1)
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Deliveries.InsertTest(ctx, webhook.Delivery{ID: newID(), SubscriptionID: sub, EventID: newID(),
			Event: webhook.EventDepositActivated, Body: []byte(`{}`)})
	})
	f.allIn(webhook.DeliveryStateFailed, 2)
	service, by := f.again()
	for _, d := range f.log(sub) {
		_, err := service.Redeliver(t.Context(), by, sub, d.ID)
		require.NoError(t, err)
	}
	f.allIn(webhook.DeliveryStateFailed, 4)
	for _, d := range f.log(sub) {
		want := 2
		if d.Test {
			want = 1
		}
		require.Equal(t, want, d.Attempts)
		require.Len(t, d.AttemptLog, want)
		require.Equal(t, webhook.ResultNon2xx, d.AttemptLog[want-1].Result)
	}
}

// After a whole outage, two dispatchers share the replay of the failed deliveries.
func TestDispatch_AReplay_BringsWhatFailedOnceEach(t *testing.T) {
	f := newFixture(t)
	var up atomic.Bool
	r := newReceiver(t, func(received, int) int {
		if !up.Load() {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	sub := f.subscribe(r.URL)
	impatient := func(_ *dispatch.Deps, c *dispatch.Config) { c.Schedule = webhook.RetrySchedule{0} }
	f.run(impatient)
	f.run(impatient)
	f.emit(webhook.EventDepositCancelled, 70)
	f.allIn(webhook.DeliveryStateFailed, 70)
	failed := len(r.all())
	up.Store(true)

	service, by := f.again()
	replay, err := service.StartReplay(t.Context(), by, sub,
		webhooks.NewReplay{From: now().Add(-time.Hour), To: now().Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 70, replay.Matched)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 2)
	for range cap(ended) {
		go func() { ended <- schedules.New(quiet(), noMetrics{}, service.ReplayJob()).Run(ctx) }()
	}
	f.eventually("all that failed was sent again", func() bool { return f.states()[webhook.DeliveryStateSucceeded] == 70 })
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	got := r.all()
	times := map[string]int{}
	for _, g := range got[failed:] {
		require.True(t, g.valid)
		times[g.body]++
	}
	require.Len(t, times, 70)
	require.Len(t, got, failed+70)
}
