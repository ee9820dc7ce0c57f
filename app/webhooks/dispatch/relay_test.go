//go:build !unit

package dispatch_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// countedRelay counts the relays.
type countedRelay struct {
	webhookports.RelayStore
	looks *atomic.Int32
}

func (r countedRelay) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.PlanDeliveriesFunc) (int, []webhookports.Claim, error) {
	r.looks.Add(1)
	return r.RelayStore.Relay(ctx, limit, lease, plan)
}

// A second relay after each successful relay would cost a transaction more for every few events.
func TestRelay_RungOnce_LooksOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var looks atomic.Int32
	stop := f.run(func(deps *dispatch.Deps, c *dispatch.Config) {
		deps.Relay, c.RelayEvery = countedRelay{deps.Relay, &looks}, time.Hour
	})
	for n := range int32(3) {
		f.emit(webhook.EventDepositCancelled, 5)
		f.allIn(webhook.DeliveryStateSucceeded, 5*int(n+1))
		require.Equal(t, n+1, looks.Load())
	}
	stop()
	require.EqualValues(t, 3, looks.Load())
}

func TestRelay_MoreThanAGroup_IsTakenAtOneRing(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.emit(webhook.EventDepositCancelled, 25)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.RelayEvery, c.Batch = time.Hour, 10 })
	f.allIn(webhook.DeliveryStateSucceeded, 25)
}

// slowClaims has the first search for due deliveries take, by the dispatcher's clock, as long as in a database that
// stood still.
type slowClaims struct {
	webhookports.ClaimStore
	ports.Clock
	late  time.Duration
	asked *atomic.Bool
	found chan struct{} // closed after the first search
}

func (c slowClaims) FindDue(ctx context.Context, horizon time.Duration) (webhookports.DueScanResult, error) {
	due, err := c.ClaimStore.FindDue(ctx, horizon)
	if c.asked.CompareAndSwap(false, true) {
		close(c.found)
	}
	return due, err
}

func (c slowClaims) Now() time.Time {
	if c.asked.Load() {
		return c.Clock.Now().Add(c.late)
	}
	return c.Clock.Now()
}

// Found by `faults -seed 41`: after a database that stood still for four seconds, no scan ran for 80 seconds,
// because scans may take a twentieth of the time and the waiting scan counted as slow.
func TestScan_ThatWaitedForTheDatabase_IsFollowedByTheNextOne(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(_ received, earlier int) int {
		if earlier == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	f.subscribe(r.URL)
	answered := make(chan struct{})
	f.run(func(deps *dispatch.Deps, _ *dispatch.Config) {
		slow := slowClaims{deps.Claims, deps.Clock, 4 * time.Second, &atomic.Bool{}, answered}
		deps.Claims, deps.Clock = slow, slow
	})
	<-answered
	f.emit(webhook.EventDepositCancelled, 1) // the second attempt is for the scan to find
	f.allIn(webhook.DeliveryStateSucceeded, 1)
	require.Len(t, r.all(), 2)
}

// stoppedRelay stops the dispatcher right after a relay committed.
type stoppedRelay struct {
	webhookports.RelayStore
	relayed func()
}

func (r stoppedRelay) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.PlanDeliveriesFunc) (int, []webhookports.Claim, error) {
	n, claims, err := r.RelayStore.Relay(ctx, limit, lease, plan)
	if n > 0 {
		r.relayed()
	}
	return n, claims, err
}

// watchedQueue reports the context under which jobs are enqueued.
type watchedQueue struct {
	webhookports.JobQueue
	enqueue func(ctx context.Context)
}

func (q watchedQueue) Enqueue(ctx context.Context, jobs []webhookports.DeliveryJob) ([]webhookports.DeliveryJob,
	error) {
	q.enqueue(ctx)
	return q.JobQueue.Enqueue(ctx, jobs)
}

// Found by `faults -seed 11`: deliveries that a stopping dispatcher had claimed waited for the end of their leases.
func TestStop_HandsOnWhatItHasClaimed(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var once sync.Once
	stopping := make(chan func(), 1)
	handed := make(chan error, 1)
	stop := f.run(func(deps *dispatch.Deps, _ *dispatch.Config) {
		deps.Relay = stoppedRelay{deps.Relay, func() {
			once.Do(func() {
				stop := <-stopping
				go stop()
			})
		}}
		deps.Queue = watchedQueue{deps.Queue, func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond): // a context that ends with the shutdown would have ended
			}
			select {
			case handed <- ctx.Err():
			default:
			}
		}}
	})
	stopping <- stop
	f.emit(webhook.EventDepositCancelled, 1)
	select {
	case err := <-handed:
		require.NoError(t, err, "a shutdown does not keep claims from the queue")
	case <-time.After(30 * time.Second):
		require.Fail(t, "nothing was handed on")
	}
	stop()
	f.run()
	f.allIn(webhook.DeliveryStateSucceeded, 1)
}

// unheardOf is a name that the table outbox takes and the table events refuses.
const unheardOf = webhook.EventName("deposit.unheard_of")

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// setAside lists the events that no relay can file.
func (f *fixture) setAside() (ids []id.ID) {
	rows, err := f.Pool.Query(f.t.Context(), `SELECT event_id FROM outbox_set_aside ORDER BY event_id`)
	require.NoError(f.t, err)
	ids, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
	require.NoError(f.t, err)
	return ids
}

// An outbox row that cannot be filed is set aside and named in the log, and every other event of its group is
// delivered, each exactly once and oldest first.
func TestRelay_EventThatCannotBeFiled_StopsNoOther(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var log lines
	before := f.emit(webhook.EventDepositCancelled, 20)
	bad := f.emit(unheardOf, 1)
	between := f.emit(webhook.EventDepositActivated, 13)
	bad = append(bad, f.emit(unheardOf, 1)...)
	f.emit(webhook.EventDepositExpired, 7)
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Log, c.RelayEvery = slog.New(slog.NewTextHandler(&log, nil)), 20*time.Millisecond
	})
	f.allIn(webhook.DeliveryStateSucceeded, 40)
	require.Equal(t, bad, f.setAside())
	require.Len(t, r.all(), 40, "no delivery is sent twice")
	for _, each := range bad {
		require.Contains(t, log.String(), id.Event.Of(each))
	}
	for _, each := range append(before, between...) {
		require.NotContains(t, log.String(), id.Event.Of(each))
	}
	require.Zero(t, f.Count("outbox", ""))
}

// Data that somebody spoilt by SQL would break every receiver, and block the feed for good.
func TestRelay_EventWhoseDataIsNoJSONObject_StopsNoOther_AndReachesNobody(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	bad := f.emit(webhook.EventDepositCancelled, 2)
	f.emit(webhook.EventDepositExpired, 5)
	for i, data := range []string{`{"broken`, `[1]`} {
		_, err := f.Pool.Exec(t.Context(), `UPDATE outbox SET data = $1 WHERE event_id = $2`, data, bad[i])
		require.NoError(t, err)
	}
	f.run()
	f.allIn(webhook.DeliveryStateSucceeded, 5)
	require.Equal(t, bad, f.setAside())
	require.Len(t, r.all(), 5)
	require.Zero(t, f.Count("events", "name = 'deposit.cancelled'"))
}

// A panic of the dispatch rule concerns the event that caused it.
func TestRelay_EventWhosePlanPanics_StopsNoOther(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	good := f.emit(webhook.EventDepositCancelled, 5)
	bad := f.emit(webhook.EventDepositActivated, 1)
	f.emit(webhook.EventDepositExpired, 5)
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Relay = panicking{d.Relay, bad[0]} })
	f.allIn(webhook.DeliveryStateSucceeded, 10)
	require.Equal(t, bad, f.setAside())
	require.NotContains(t, bad, good[0])
}

// panicking is a relay whose plan panics for an event.
type panicking struct {
	webhookports.RelayStore
	event id.ID
}

func (p panicking) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.PlanDeliveriesFunc) (int, []webhookports.Claim, error) {
	return p.RelayStore.Relay(ctx, limit, lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) []webhookports.Delivery {
			for _, e := range events {
				if e.ID == p.event {
					panic("no such rule")
				}
			}
			return plan(events, subscriptions)
		})
}

// A refusal that blames no row, such as a missing right, sets no event aside: the events wait until the relay works
// again.
func TestRelay_RefusalThatBlamesNoRow_SetsNothingAside(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var log lines
	_, err := f.Pool.Exec(t.Context(), `ALTER TABLE events RENAME TO events_away`)
	require.NoError(t, err)
	f.emit(webhook.EventDepositCancelled, 3)
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	f.eventually("the relay complains", func() bool { return strings.Contains(log.String(), "cannot relay the outbox") })
	_, err = f.Pool.Exec(t.Context(), `ALTER TABLE events_away RENAME TO events`)
	require.NoError(t, err)
	f.allIn(webhook.DeliveryStateSucceeded, 3)
	require.Empty(t, f.setAside())
}
