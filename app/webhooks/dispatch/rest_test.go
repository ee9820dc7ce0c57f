package dispatch_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// countedStores are stores in memory that count the questions of a dispatcher. They run under a simulated clock.
type countedStores struct {
	webhookports.AttemptStore
	pending, relays, looks, urgent, counts, endpoints atomic.Int64

	outbox atomic.Bool                                // has an event
	waited atomic.Int64                               // how long the event has waited, in nanoseconds
	due    atomic.Pointer[webhookports.DueScanResult] // nil: nothing is due
}

func (s *countedStores) OutboxPending(context.Context) (bool, time.Duration, error) {
	s.pending.Add(1)
	return s.outbox.Load(), time.Duration(s.waited.Load()), nil
}

func (s *countedStores) Relay(context.Context, int, time.Duration,
	webhookports.PlanDeliveriesFunc) (int, []webhookports.Claim, error) {
	s.relays.Add(1)
	if s.outbox.Swap(false) {
		return 1, nil, nil
	}
	return 0, nil, nil
}

func (s *countedStores) SetEventAside(context.Context, id.ID, string) (bool, error) {
	return false, nil
}

func (s *countedStores) FindDue(_ context.Context, horizon time.Duration) (webhookports.DueScanResult, error) {
	s.looks.Add(1)
	if due := s.due.Load(); due != nil {
		return *due, nil
	}
	return webhookports.DueScanResult{Next: horizon}, nil
}

func (s *countedStores) ClaimDue(context.Context, []webhookports.ClaimQuota, time.Duration) ([]webhookports.Claim,
	error) {
	return nil, nil
}

func (s *countedStores) ClaimUrgent(context.Context, int, time.Duration) ([]webhookports.Claim, int, error) {
	s.urgent.Add(1)
	s.due.Store(nil)
	return nil, 0, nil
}

func (s *countedStores) CountClaimed(context.Context) (map[id.ID]int, error) {
	s.counts.Add(1)
	return nil, nil
}

func (s *countedStores) Endpoints(context.Context) ([]webhook.EndpointReachability, error) {
	s.endpoints.Add(1)
	return nil, nil
}

func (s *countedStores) ProbeEndpoints(context.Context, webhookports.ProbeFilter) (webhookports.ProbeResult, error) {
	return webhookports.ProbeResult{}, nil
}

func (s *countedStores) ExpireLeases(context.Context, time.Duration, time.Duration, time.Duration,
	[]id.ID) (int, error) {
	return 0, nil
}

// idleQueue never has a job.
type idleQueue struct{}

func (idleQueue) Enqueue(context.Context, []webhookports.DeliveryJob) ([]webhookports.DeliveryJob, error) {
	return nil, nil
}
func (idleQueue) Serve(ctx context.Context, _ int,
	_ func(context.Context, webhookports.DeliveryJob)) error {
	<-ctx.Done()
	return nil
}
func (idleQueue) CheckWritable(context.Context) error      { return nil }
func (idleQueue) DetectLoss(context.Context) (bool, error) { return false, nil }
func (idleQueue) DeleteArchived(context.Context) error     { return nil }

// resting is a dispatcher over countedStores, under a simulated clock.
type resting struct {
	*countedStores
	bell, dueBell chan struct{}
	works, leads  atomic.Bool
}

// rest runs a dispatcher whose bell works, and calls story once the dispatcher is at rest.
func rest(t *testing.T, story func(t *testing.T, d *resting)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &resting{countedStores: &countedStores{}, bell: make(chan struct{}, 1), dueBell: make(chan struct{}, 1)}
		d.works.Store(true)
		d.leads.Store(true)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- dispatch.New(dispatch.Deps{
				Relay: d, Claims: d, Work: d, Endpoints: d, Queue: idleQueue{}, Clock: system.Clock{}, Metrics: restingMetrics{},
				Bell: d.bell, DueBell: d.dueBell, BellWorks: d.works.Load, Leads: d.leads.Load, Log: slog.New(slog.DiscardHandler),
			}, dispatch.Config{Timeout: time.Second, Concurrency: 4, EndpointConcurrency: 4}).Run(ctx)
		}()
		synctest.Wait()
		story(t, d)
		stop()
		require.NoError(t, <-done)
	})
}

type restingMetrics struct{ webhookports.DispatchMetrics }

func (restingMetrics) CountRelayed(int)                    {}
func (restingMetrics) SetQueueMode(webhookports.QueueMode) {}

func (d *resting) ring() {
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

// pass lets simulated time pass.
func pass(span time.Duration) {
	<-time.After(span)
	synctest.Wait()
}

// The aim is two commits a second; each question is a commit.
func TestRest_WithABellThatWorks_AsksTheDatabaseTwiceASecond(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		pass(time.Minute)
		require.LessOrEqual(t, d.pending.Load(), int64(61))
		require.LessOrEqual(t, d.looks.Load(), int64(61))
		require.GreaterOrEqual(t, d.pending.Load(), int64(59), "a lost ring costs a second at most")
		require.GreaterOrEqual(t, d.looks.Load(), int64(59))
		require.Zero(t, d.relays.Load()+d.urgent.Load()+d.counts.Load())
	})
}

func TestRest_WhenTheBellFails_PollsQuickly_AndIsCalmAgainAfterwards(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		d.works.Store(false)
		pass(time.Second) // the polls that were planned before
		pending, looks := d.pending.Load(), d.looks.Load()
		pass(10 * time.Second)
		require.InDelta(t, 200, d.pending.Load()-pending, 5)
		require.InDelta(t, 100, d.looks.Load()-looks, 5)

		d.works.Store(true)
		pass(time.Second)
		pending, looks = d.pending.Load(), d.looks.Load()
		pass(10 * time.Second)
		require.InDelta(t, 10, d.pending.Load()-pending, 1)
		require.InDelta(t, 10, d.looks.Load()-looks, 1)
	})
}

func TestRest_ARing_IsFollowedAtOnce(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		for n := range int64(100) {
			pass(370 * time.Millisecond)
			d.outbox.Store(true)
			d.bell <- struct{}{}
			synctest.Wait()
			require.Equal(t, n+1, d.relays.Load(), "no time has passed")
			require.False(t, d.outbox.Load())
		}
		require.LessOrEqual(t, d.pending.Load(), int64(1), "no poll found anything, or was needed")
	})
}

func TestRest_ALostRing_CostsASecond_AndMakesPollsQuick(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		pass(100 * time.Millisecond)
		d.outbox.Store(true)
		pass(time.Second)
		require.False(t, d.outbox.Load())

		pending := d.pending.Load()
		pass(5 * time.Second)
		require.InDelta(t, 100, d.pending.Load()-pending, 5, "further rings may be lost")
		pass(5 * time.Second)
		pending = d.pending.Load()
		pass(10 * time.Second)
		require.InDelta(t, 10, d.pending.Load()-pending, 1)
	})
}

func TestRest_AFollower_LeavesRingsToTheLeader_AndLooksFourTimesASecond(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		d.leads.Store(false)
		d.waited.Store(int64(50 * time.Millisecond))
		d.outbox.Store(true) // there is always an event that has just come
		pending := d.pending.Load()
		for range 1000 {
			d.ring()
			pass(10 * time.Millisecond)
		}
		require.Zero(t, d.relays.Load())
		require.InDelta(t, 40, d.pending.Load()-pending, 2)

		d.outbox.Store(false)
		pass(time.Second)
		pending = d.pending.Load()
		pass(10 * time.Second)
		require.InDelta(t, 10, d.pending.Load()-pending, 1, "at rest it is calm, too")
		require.Zero(t, d.relays.Load())
	})
}

func TestRest_AFollower_RelaysWhatTheLeaderLeaves_AndThenForAWhileAtEachRing(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		d.leads.Store(false)
		pass(300 * time.Millisecond)
		d.outbox.Store(true)
		d.waited.Store(int64(250 * time.Millisecond)) // at the look that follows the ring
		d.ring()
		pass(249 * time.Millisecond)
		require.Zero(t, d.relays.Load())
		pass(time.Millisecond)
		require.EqualValues(t, 1, d.relays.Load())

		pass(10 * time.Millisecond)
		for n := range int64(20) {
			d.outbox.Store(true)
			d.ring()
			pass(100 * time.Millisecond)
			require.Equal(t, 2+n, d.relays.Load())
		}
		pass(2 * time.Second)
		d.waited.Store(0)
		d.outbox.Store(true)
		d.ring()
		pass(time.Second)
		require.EqualValues(t, 21, d.relays.Load(), "the leader may have come back")

		d.leads.Store(true)
		d.ring()
		pass(time.Millisecond)
		require.EqualValues(t, 22, d.relays.Load())
	})
}

func TestRest_ATestDelivery_IsClaimedAtItsRing(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		pass(300 * time.Millisecond)
		d.due.Store(&webhookports.DueScanResult{Urgent: true, Next: time.Second})
		before := time.Now()
		d.dueBell <- struct{}{}
		pass(10 * time.Millisecond)
		require.EqualValues(t, 1, d.urgent.Load())
		require.Less(t, time.Since(before), 11*time.Millisecond)
	})
}

func TestRest_ARetryThatWillBeDue_IsFoundInTime(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		d.due.Store(&webhookports.DueScanResult{Next: 400 * time.Millisecond})
		pass(time.Second) // a look has found the retry
		looks := d.looks.Load()
		pass(4 * time.Second)
		require.InDelta(t, 10, d.looks.Load()-looks, 1, "each look finds a retry that is due in 400 ms")
	})
}

// All endpoints are read only while one of this process is in bad health, and then every five seconds.
func TestRest_LooksAtAllEndpoints_WhileOneIsInBadHealth(t *testing.T) {
	rest(t, func(t *testing.T, d *resting) {
		seen := func(h webhook.Health) {
			d.due.Store(
				&webhookports.DueScanResult{Subscriptions: []webhookports.Subscription{{ID: id.ID{1}, Health: h}},
					Next: time.Second})
		}
		seen(webhook.Health{})
		pass(time.Minute)
		require.Zero(t, d.endpoints.Load())
		seen(webhook.Health{Failures: 1})
		pass(time.Minute)
		require.InDelta(t, 12, d.endpoints.Load(), 2)
	})
}
