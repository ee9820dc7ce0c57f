package asynq_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	hibiken "github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/redistest"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestMain(m *testing.M) { redistest.RunTests(m) }

func newQueue(t *testing.T) *asynq.Queue {
	t.Parallel()
	return asynq.New(redistest.New(t), slog.New(slog.DiscardHandler))
}

func job(n byte) webhookports.DeliveryJob {
	return webhookports.DeliveryJob{Claims: []webhookports.Claim{{DeliveryID: id.ID{n}, SubscriptionID: id.ID{9}, Seq: 1}}}
}

// serve takes jobs with so many workers until stop.
func serve(t *testing.T, q *asynq.Queue, workers int) (got chan webhookports.DeliveryJob, stop func()) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	got, done := make(chan webhookports.DeliveryJob, 128), make(chan error, 1)
	go func() {
		done <- q.Serve(ctx, workers, func(_ context.Context, j webhookports.DeliveryJob) { got <- j })
	}()
	return got, func() { end(); require.NoError(t, <-done) }
}

func TestQueue_HandlesItsJobs(t *testing.T) {
	q := newQueue(t)
	got, stop := serve(t, q, 2)
	want := []webhookports.DeliveryJob{job(1), job(2), job(3)}
	left, err := q.Enqueue(t.Context(), want)
	require.NoError(t, err)
	require.Empty(t, left)
	var handled []webhookports.DeliveryJob
	for range want {
		handled = append(handled, <-got)
	}
	require.ElementsMatch(t, want, handled)
	stop()
}

// Tasks of a dispatcher of the release before have no headers, and its queue reads ours (rolling deployment).
func TestQueue_WithADispatcherOfTheReleaseBefore_ReadsAndIsRead(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	q := asynq.New(client, slog.New(slog.DiscardHandler))
	older := hibiken.NewClientFromRedisClient(client)
	payload := append([]byte{2, 0}, append(make([]byte, 32), 0, 0, 0, 7)...)
	_, err := older.EnqueueContext(t.Context(), hibiken.NewTask("deliver", payload),
		hibiken.Queue(asynq.QueueName))
	require.NoError(t, err)
	ours := webhookports.DeliveryJob{
		Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, SubscriptionID: id.ID{9}, Seq: 1, DueAt: time.UnixMilli(5000)}}}
	_, err = q.Enqueue(t.Context(), []webhookports.DeliveryJob{ours})
	require.NoError(t, err)
	inspector := hibiken.NewInspectorFromRedisClient(client)
	tasks, err := inspector.ListPendingTasks(asynq.QueueName)
	require.NoError(t, err)
	require.Len(t, tasks[0].Payload, 2+36, "an older dispatcher reads a header of 2 bytes and 36 for each claim")

	got, stop := serve(t, q, 1)
	theirs := webhookports.DeliveryJob{Claims: []webhookports.Claim{{Seq: 7}}}
	require.ElementsMatch(t, []webhookports.DeliveryJob{ours, theirs}, []webhookports.DeliveryJob{<-got, <-got})
	stop()
}

func TestQueue_AJobThatIsThere_CountsAsHandedOver(t *testing.T) {
	q := newQueue(t)
	for range 2 {
		left, err := q.Enqueue(t.Context(), []webhookports.DeliveryJob{job(1)})
		require.NoError(t, err)
		require.Empty(t, left)
	}
	depth, err := q.Depth()
	require.NoError(t, err)
	require.Equal(t, 1, depth["pending"])
}

func TestQueue_ThatNeverHeldATask_IsTidyAndEmpty(t *testing.T) {
	q := newQueue(t)
	require.NoError(t, q.DeleteArchived(t.Context()))
	depth, err := q.Depth()
	require.NoError(t, err)
	require.Empty(t, depth)
}

func TestQueue_Epoch_TellsALossOnce(t *testing.T) {
	client := redistest.New(t)
	q := asynq.New(client, slog.New(slog.DiscardHandler))
	tells := func(want ...bool) {
		for _, w := range want {
			lost, err := q.DetectLoss(t.Context())
			require.NoError(t, err)
			require.Equal(t, w, lost)
		}
	}
	tells(true, false, false)
	require.NoError(t, client.FlushDB(t.Context()).Err())
	tells(true, false)
}

// If the node of a Redis cluster that stores the queue comes back empty, the jobs are lost.
func TestQueue_EpochAndProbe_WatchTheNodeOfTheQueue(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), MaxRedirects: -1})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	q := asynq.New(client, slog.New(slog.DiscardHandler))
	at, err := cluster.MasterIndexOfKey(t.Context(), "{"+asynq.QueueName+"}")
	require.NoError(t, err)
	_, err = q.DetectLoss(t.Context())
	require.NoError(t, err)
	require.NoError(t, q.CheckWritable(t.Context()))
	require.NoError(t, cluster.Masters[at].Kill())
	require.Error(t, q.CheckWritable(t.Context()))
	require.NoError(t, cluster.Masters[at].Restart(t.Context()))
	require.Eventually(t, func() bool { return q.CheckWritable(t.Context()) == nil }, time.Minute, 20*time.Millisecond,
		"the node is back")
	require.Eventually(t, func() bool {
		lost, err := q.DetectLoss(t.Context())
		return err == nil && lost
	}, time.Minute, 20*time.Millisecond, "the jobs are lost")
}

func TestQueue_ARedisThatIsFull_FailsTheProbeAndAnswersPing(t *testing.T) {
	t.Parallel()
	client := redistest.ServerClient(t, redistest.StartServer(t))
	q := asynq.New(client, slog.New(slog.DiscardHandler))
	_, err := q.DetectLoss(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.NoError(t, client.Ping(t.Context()).Err())
	require.ErrorContains(t, q.CheckWritable(t.Context()), "OOM")
	_, err = q.DetectLoss(t.Context())
	require.ErrorContains(t, err, "OOM", "so the queue is left before a job is")
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.NoError(t, q.CheckWritable(t.Context()))
}

func TestQueue_WithoutRedis_GivesTheJobsBack(t *testing.T) {
	server := redistest.StartServer(t)
	q := asynq.New(redistest.ServerClient(t, server), slog.New(slog.DiscardHandler))
	require.NoError(t, q.CheckWritable(t.Context()))
	require.NoError(t, server.Kill())
	jobs := []webhookports.DeliveryJob{job(1), job(2)}
	left, err := q.Enqueue(t.Context(), jobs)
	require.Error(t, err)
	require.ElementsMatch(t, jobs, left)
	require.Error(t, q.CheckWritable(t.Context()))
}

// workingBell has every ring lost.
type workingBell struct{}

func (workingBell) NotifyJobs()                 {}
func (workingBell) JobSignals() <-chan struct{} { return nil }
func (workingBell) ReceivesNotifications() bool { return true }

// countedBell counts the rings for jobs.
type countedBell struct {
	workingBell
	rings atomic.Int32
}

func (b *countedBell) NotifyJobs() { b.rings.Add(1) }

func TestQueue_AJobThatTheProcessKeeps_IsToldToOthersOnlyBehindAnother(t *testing.T) {
	t.Parallel()
	bell := &countedBell{}
	q := asynq.New(redistest.New(t), slog.New(slog.DiscardHandler), asynq.WithJobNotifier(bell)) // takes no job itself
	enqueue := func(kept bool, n byte) {
		left, err := q.Enqueue(t.Context(), []webhookports.DeliveryJob{{Kept: kept,
			Claims: []webhookports.Claim{{DeliveryID: id.ID{n}, Seq: 1}}}})
		require.NoError(t, err)
		require.Empty(t, left)
	}
	enqueue(true, 1)
	require.Zero(t, bell.rings.Load())
	enqueue(true, 2)
	require.EqualValues(t, 1, bell.rings.Load(), "the first job still waits")
	enqueue(false, 3)
	require.EqualValues(t, 2, bell.rings.Load())
}

func TestQueue_WithABell_HandlesItsOwnJobsAndThoseOfTheDead(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	q := asynq.New(client, slog.New(slog.DiscardHandler), asynq.WithJobNotifier(workingBell{}))
	dead := asynq.New(client, slog.New(slog.DiscardHandler))
	got, stop := serve(t, q, 2)
	const n = 100
	for i := range byte(n) {
		from := q
		if i%10 == 0 {
			from = dead
		}
		_, err := from.Enqueue(t.Context(), []webhookports.DeliveryJob{job(i + 1)})
		require.NoError(t, err)
	}
	seen := map[id.ID]bool{}
	for range n {
		seen[(<-got).Claims[0].DeliveryID] = true
	}
	require.Len(t, seen, n)
	stop()
}
