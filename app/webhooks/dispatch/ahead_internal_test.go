package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports/platform/outage"
	webhookports "partnerdeposits/ports/webhooks"
)

// notedQueue notes the deliveries that it gets, and gives err.
type notedQueue struct {
	webhookports.JobQueue
	got []id.ID
	err error
}

func (q *notedQueue) Enqueue(_ context.Context, jobs []webhookports.DeliveryJob) (left []webhookports.DeliveryJob,
	err error) {
	for _, j := range jobs {
		for _, c := range j.Claims {
			q.got = append(q.got, c.DeliveryID)
		}
	}
	if q.err != nil {
		return jobs, q.err
	}
	return nil, nil
}

// notedWork notes the claims that are renewed and released, and loads a delivery from the nth load on.
type notedWork struct {
	webhookports.AttemptStore
	renewed, released []webhookports.Claim
	loads, appears    int
}

func (w *notedWork) RenewClaims(_ context.Context, claims []webhookports.Claim,
	_ time.Duration) ([]webhookports.Claim, error) {
	w.renewed = append(w.renewed, claims...)
	return nil, nil
}

func (w *notedWork) ReleaseClaims(_ context.Context, claims []webhookports.Claim) error {
	w.released = append(w.released, claims...)
	return nil
}

func (w *notedWork) LoadClaimed(_ context.Context, claims []webhookports.Claim) ([]webhookports.Delivery, error) {
	w.loads++
	d := webhookports.Delivery{Claim: claims[0]}
	if w.loads >= w.appears {
		d.Found, d.Current, d.Enabled, d.LeaseLeft, d.ReadAt = true, true, true, time.Hour, time.Now()
	}
	return []webhookports.Delivery{d}, nil
}

type queueMetrics struct{ webhookports.DispatchMetrics }

func (queueMetrics) SetQueueMode(webhookports.QueueMode) {}

func handing(queue *notedQueue, work *notedWork) *Dispatcher {
	log := slog.New(slog.DiscardHandler)
	d := New(Deps{Queue: queue, Work: work, Clock: wallClock{}, Metrics: queueMetrics{}, Log: log,
		BellWorks: func() bool { return true }},
		Config{Timeout: time.Second, Concurrency: 64, EndpointConcurrency: 64})
	d.transport.queue = outage.New(log)
	d.loads.Run = func(deliveries []*webhookports.Delivery) { d.load(context.Background(), deliveries) }
	return d
}

func firstClaims(n byte) (claims []webhookports.Claim) {
	for i := range n {
		claims = append(claims, webhookports.Claim{DeliveryID: id.ID{i + 1}, SubscriptionID: id.ID{0, i + 1}, Seq: 1})
	}
	return claims
}

func deliveriesOf(claims []webhookports.Claim) (ids []id.ID) {
	for _, c := range claims {
		ids = append(ids, c.DeliveryID)
	}
	return ids
}

func TestHandover_AFewClaims_GoBeforeTheirCommit_AndNoneTwice(t *testing.T) {
	t.Parallel()
	away := errors.New("no answer")
	for name, c := range map[string]struct {
		claims           byte
		change           func(d *Dispatcher)
		err              error
		ahead, committed []id.ID // what the queue has by then
	}{
		"one":           {1, nil, nil, deliveriesOf(firstClaims(1)), deliveriesOf(firstClaims(1))},
		"as many as go": {8, nil, nil, deliveriesOf(firstClaims(8)), deliveriesOf(firstClaims(8))},
		"too many":      {9, nil, nil, nil, deliveriesOf(firstClaims(9))},
		"of a slow endpoint": {1, func(d *Dispatcher) {
			d.registry.observe([]webhookports.Subscription{{ID: id.ID{0, 1}, Health: webhook.Health{Slow: true}}})
		}, nil, nil, deliveriesOf(firstClaims(1))},
		"the queue is away": {1, func(d *Dispatcher) { d.transport.away.Store(true) }, nil, nil, nil},
		"others poll the queue": {1, func(d *Dispatcher) { d.BellWorks = func() bool { return false } }, nil, nil,
			deliveriesOf(firstClaims(1))},
		"a relay has failed": {1, func(d *Dispatcher) { d.aheadFrom = time.Now().Add(1) }, nil, nil,
			deliveriesOf(firstClaims(1))},
		"a relay had failed": {1, func(d *Dispatcher) { d.aheadFrom = time.Now() }, nil, deliveriesOf(firstClaims(1)),
			deliveriesOf(firstClaims(1))},
		"the queue has no word": {1, nil, away, deliveriesOf(firstClaims(1)), deliveriesOf(firstClaims(1))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				queue, work := &notedQueue{err: c.err}, &notedWork{}
				d := handing(queue, work)
				if c.change != nil {
					c.change(d)
				}
				claims := firstClaims(c.claims)
				h := handover{t: d.transport, plans: 1}
				h.ahead(t.Context(), claims)
				synctest.Wait()
				require.Equal(t, c.ahead, queue.got)
				h.finish(t.Context(), slices.Clone(claims))
				require.ElementsMatch(t, c.committed, queue.got)
				if c.err == nil {
					require.Empty(t, work.renewed)
				} else {
					require.Equal(t, claims, work.renewed, "the job may be in the queue")
					require.True(t, d.transport.away.Load())
				}
				d.posts.Wait()
			})
		})
	}
}

// The workers may have given up what was handed over.
func TestHandover_ClaimsOfALateCommit_AreHandedOverAgain(t *testing.T) {
	t.Parallel()
	all := firstClaims(3)
	twice := deliveriesOf(append(firstClaims(2), all[:2]...))
	for name, c := range map[string]struct {
		plans     int
		took      time.Duration
		committed []webhookports.Claim
		want      []id.ID
	}{
		"in time":                                {1, aheadPatience - 1, all[:2], deliveriesOf(all[:2])},
		"late":                                   {1, aheadPatience, all[:2], twice},
		"by a repeated transaction":              {2, 0, all[:2], twice},
		"that the repeated transaction has made": {2, 0, all[2:], deliveriesOf(all)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				queue := &notedQueue{}
				h := handover{t: handing(queue, &notedWork{}).transport, plans: c.plans}
				h.ahead(t.Context(), all[:2])
				<-time.After(c.took)
				h.finish(t.Context(), slices.Clone(c.committed))
				require.Equal(t, c.want, queue.got)
			})
		})
	}
}

// failingRelay commits nothing.
type failingRelay struct{ webhookports.RelayStore }

func (failingRelay) Relay(context.Context, int, time.Duration, webhookports.PlanDeliveriesFunc,
	func([]webhookports.Claim)) (int, []webhookports.Claim, error) {
	return 0, nil, errors.New("no commit")
}

func TestRelay_ThatFails_SendsNothingAheadForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := handing(&notedQueue{}, &notedWork{})
		d.Relay = failingRelay{}
		_, err := d.relay(t.Context(), 1)
		require.Error(t, err)
		require.Equal(t, time.Now().Add(aheadPause), d.aheadFrom)
	})
}

// The job of another process may come before the commit of its delivery.
func TestFresh_AFirstClaimWithoutADelivery_IsLookedForAgain(t *testing.T) {
	t.Parallel()
	claim := func(seq int32, age time.Duration) func() webhookports.Claim {
		return func() webhookports.Claim {
			c := firstClaims(1)[0]
			c.Seq, c.DueAt = seq, time.Now().Add(-age)
			return c
		}
	}
	for name, c := range map[string]struct {
		claim          func() webhookports.Claim
		appears, loads int
		found          bool
		took           time.Duration
	}{
		"at once":                   {claim(1, 0), 1, 1, true, 0},
		"at the third look":         {claim(1, 0), 3, 3, true, 6 * time.Millisecond},
		"at the last look":          {claim(1, 0), 9, 9, true, 510 * time.Millisecond},
		"never":                     {claim(1, 0), 99, 9, false, 510 * time.Millisecond},
		"not a first claim's":       {claim(2, 0), 99, 1, false, 0},
		"an event of some time ago": {claim(1, awaitAge), 99, 1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				work := &notedWork{appears: c.appears}
				d := handing(&notedQueue{}, work)
				began := time.Now()
				got := d.fresh(t.Context(), c.claim(), nil)
				require.Equal(t, c.found, got != nil)
				require.Equal(t, c.loads, work.loads)
				require.Equal(t, c.took, time.Since(began))
				require.Equal(t, !c.found, len(work.released) == 1)
			})
		})
	}
}

// A claim whose relay failed is looked for again: the next relay makes the same claim.
func TestFresh_AClaimWhoseCommitFailed_IsLookedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work := &notedWork{appears: 1}
		loaded := webhookports.Delivery{Found: true, Current: true, Enabled: true, LeaseLeft: time.Hour, ReadAt: time.Now(),
			Filed: func() bool { return false }}
		claim := firstClaims(1)[0]
		claim.DueAt = time.Now()
		require.NotNil(t, handing(&notedQueue{}, work).fresh(t.Context(), claim, &loaded))
		require.Equal(t, 1, work.loads)
	})
}
