//go:build !unit

package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sender "partnerdeposits/adapters/webhook"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/redistest"
	webhookports "partnerdeposits/ports/webhooks"
)

// repeatingQueue hands out every job twice at once, like a queue that was restored from an older state.
type repeatingQueue struct{ webhookports.JobQueue }

func (q repeatingQueue) Serve(ctx context.Context, concurrency int,
	handle func(context.Context, webhookports.DeliveryJob)) error {
	return q.JobQueue.Serve(ctx, concurrency, func(ctx context.Context, j webhookports.DeliveryJob) {
		var both sync.WaitGroup
		both.Go(func() { handle(ctx, j) })
		both.Go(func() { handle(ctx, j) })
		both.Wait()
	})
}

func TestDispatch_AJobHandedOutTwice_IsSentOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		<-time.After(20 * time.Millisecond)
		return 200
	})
	f.subscribe(r.URL)
	f.run(func(deps *dispatch.Deps, _ *dispatch.Config) { deps.Queue = repeatingQueue{deps.Queue} })
	f.emit(webhook.EventDepositCancelled, 100)
	f.allIn(webhook.DeliveryStateSucceeded, 100)
	require.Equal(t, 100, len(r.all()))
}

// muteQueue enqueues jobs and reports an error all the same.
type muteQueue struct{ webhookports.JobQueue }

func (q muteQueue) Enqueue(ctx context.Context, jobs []webhookports.DeliveryJob) ([]webhookports.DeliveryJob, error) {
	if left, err := q.JobQueue.Enqueue(ctx, jobs); err != nil {
		return left, err
	}
	<-time.After(20 * time.Millisecond) // the response is lost, which the caller notices late
	return jobs, errors.New("no answer")
}

// Found by `faults -seed 21`: the queue had a job in spite of its error, and the job and its renewed claim were both
// sent.
func TestDispatch_AJobOfUnknownFate_IsSentOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		<-time.After(100 * time.Millisecond)
		return 200
	})
	f.subscribe(r.URL)
	f.run(func(deps *dispatch.Deps, _ *dispatch.Config) { deps.Queue = muteQueue{deps.Queue} })
	const n = 20
	for range n {
		f.emit(webhook.EventDepositCancelled, 5)
		<-time.After(50 * time.Millisecond)
	}
	f.allIn(webhook.DeliveryStateSucceeded, 5*n)
	require.Equal(t, 5*n, len(r.all()))
}

// patient has attempts take up to timeout.
func patient(timeout time.Duration) func(*dispatch.Deps, *dispatch.Config) {
	return func(deps *dispatch.Deps, c *dispatch.Config) {
		c.Timeout = timeout
		deps.Sender = sender.NewSender(
			sender.Config{Timeout: timeout, AllowInsecure: true, EndpointConcurrency: 64, UserAgent: "test"})
	}
}

// The same at an endpoint that answers slowly: the POST of the enqueued job is still in flight when the renewed claim
// might be sent.
func TestDispatch_AJobOfUnknownFate_AtASlowEndpoint_IsSentOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		<-time.After(1500 * time.Millisecond)
		return 200
	})
	f.subscribe(r.URL)
	f.run(patient(4*time.Second), func(deps *dispatch.Deps, _ *dispatch.Config) { deps.Queue = muteQueue{deps.Queue} })
	f.emit(webhook.EventDepositCancelled, 5)
	f.allIn(webhook.DeliveryStateSucceeded, 5)
	require.Len(t, r.all(), 5)
}

// blindQueue never reports that the queue lost its jobs.
type blindQueue struct{ webhookports.JobQueue }

func (blindQueue) DetectLoss(context.Context) (lost bool, err error) { return false, nil }

// A claim that waits for a slot of a dispatcher is not lost with the queue. Another dispatcher cannot know that, and
// expires the claim, possibly during its POST.
func TestDispatch_RedisFlushed_WhileAnotherDispatcherIsAtIt_RepeatsNothing(t *testing.T) {
	f := newFixture(t)
	first := make(chan struct{})
	var once sync.Once
	r := newReceiver(t, func(received, int) int {
		once.Do(func() { close(first) })
		<-time.After(700 * time.Millisecond)
		return 200
	})
	f.subscribe(r.URL)
	oneSlot := func(_ *dispatch.Deps, c *dispatch.Config) { c.EndpointConcurrency = 1 }
	f.run(oneSlot, func(deps *dispatch.Deps, _ *dispatch.Config) { deps.Queue = blindQueue{deps.Queue} })
	f.emit(webhook.EventDepositCancelled, 8)
	<-first
	require.NoError(t, f.redis.FlushDB(t.Context()).Err())
	f.run(oneSlot)
	f.allIn(webhook.DeliveryStateSucceeded, 8)
	require.Len(t, r.all(), 8)
}

// modes records the ways of jobs to workers.
type modes struct {
	noMetrics
	mu   sync.Mutex
	told []webhookports.QueueMode
}

func (m *modes) SetQueueMode(mode webhookports.QueueMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, mode)
}

func (m *modes) all() []webhookports.QueueMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]webhookports.QueueMode(nil), m.told...)
}

// A Redis that reached maxmemory answers PING. Each return to such a queue would delay the jobs of a batch.
func TestDispatch_RedisThatIsFull_IsLeftOnceAndUsedAgainAfterwards(t *testing.T) {
	client := redistest.ServerClient(t, redistest.StartServer(t))
	f := newFixtureOn(t, client)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var way modes
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Metrics = &way })
	emitted := map[string]time.Time{}
	emit := func() {
		emitted[id.Deposit.Of(f.emit(webhook.EventDepositCancelled, 1)[0])] = time.Now()
	}
	emit()
	f.allIn(webhook.DeliveryStateSucceeded, 1)

	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for range 100 {
		emit()
		<-time.After(50 * time.Millisecond)
	}
	require.Equal(t, []webhookports.QueueMode{webhookports.QueueModeQueued, webhookports.QueueModeDirect}, way.all(),
		"no return to a full queue")
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	f.eventually("the queue is used again", func() bool { return len(way.all()) == 3 })
	emit()

	f.allIn(webhook.DeliveryStateSucceeded, len(emitted))
	late := 0
	for _, got := range r.all() {
		_, after, _ := strings.Cut(got.body, `"id":"`)
		deposit, _, _ := strings.Cut(after, `"`)
		require.Contains(t, emitted, deposit)
		if got.at.Sub(emitted[deposit]) > time.Second {
			late++
		}
	}
	require.Len(t, r.all(), len(emitted))
	require.LessOrEqual(t, late, 3, "at most a batch finds out")
}
