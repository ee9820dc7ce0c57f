package asynq_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
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

func job(lane webhookports.Lane, n byte) webhookports.DeliveryJob {
	return webhookports.DeliveryJob{Lane: lane,
		Claims: []webhookports.Claim{{DeliveryID: id.ID{n}, SubscriptionID: id.ID{9}, Seq: 1}}}
}

// serve takes jobs with fast workers in the fast lane and one in the slow lane, until stop.
func serve(t *testing.T, q *asynq.Queue, fast int) (got chan webhookports.DeliveryJob, stop func()) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	got, done := make(chan webhookports.DeliveryJob, 128), make(chan error, 1)
	go func() {
		done <- q.Serve(ctx, map[webhookports.Lane]int{webhookports.FastLane: fast, webhookports.SlowLane: 1},
			func(_ context.Context, j webhookports.DeliveryJob) { got <- j })
	}()
	return got, func() { end(); require.NoError(t, <-done) }
}

func TestQueue_EachLane_HandlesItsJobs(t *testing.T) {
	q := newQueue(t)
	got, stop := serve(t, q, 2)
	want := []webhookports.DeliveryJob{job(webhookports.FastLane, 1), job(webhookports.SlowLane, 2),
		job(webhookports.FastLane, 3)}
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
		hibiken.Queue(asynq.QueueName(webhookports.FastLane)))
	require.NoError(t, err)
	ours := webhookports.DeliveryJob{Lane: webhookports.SlowLane,
		Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, SubscriptionID: id.ID{9}, Seq: 1, DueAt: time.UnixMilli(5000)}}}
	_, err = q.Enqueue(t.Context(), []webhookports.DeliveryJob{ours})
	require.NoError(t, err)
	inspector := hibiken.NewInspectorFromRedisClient(client)
	tasks, err := inspector.ListPendingTasks(asynq.QueueName(webhookports.SlowLane))
	require.NoError(t, err)
	require.Len(t, tasks[0].Payload, 2+36, "an older dispatcher reads a header of 2 bytes and 36 for each claim")

	got, stop := serve(t, q, 1)
	theirs := webhookports.DeliveryJob{Lane: webhookports.FastLane, Claims: []webhookports.Claim{{Seq: 7}}}
	require.ElementsMatch(t, []webhookports.DeliveryJob{ours, theirs}, []webhookports.DeliveryJob{<-got, <-got})
	stop()
}

func TestQueue_AJobThatIsThere_CountsAsHandedOver(t *testing.T) {
	q := newQueue(t)
	for range 2 {
		left, err := q.Enqueue(t.Context(), []webhookports.DeliveryJob{job(webhookports.FastLane, 1)})
		require.NoError(t, err)
		require.Empty(t, left)
	}
	depth, err := q.Depth(webhookports.FastLane)
	require.NoError(t, err)
	require.Equal(t, 1, depth["pending"])
}

func TestQueue_ThatNeverHeldATask_IsTidyAndEmpty(t *testing.T) {
	q := newQueue(t)
	require.NoError(t, q.DeleteArchived(t.Context()))
	depth, err := q.Depth(webhookports.SlowLane)
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

// Lanes lie on different nodes of a cluster. A node that comes back empty has lost the jobs of its lane only.
func TestQueue_EpochAndProbe_WatchTheNodeOfEachLane(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), MaxRedirects: -1})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	q := asynq.New(client, slog.New(slog.DiscardHandler))
	masters := map[int]webhookports.Lane{}
	for _, lane := range webhookports.Lanes {
		at, err := cluster.MasterIndexOfKey(t.Context(), "{"+asynq.QueueName(lane)+"}")
		require.NoError(t, err)
		masters[at] = lane
	}
	require.Len(t, masters, len(webhookports.Lanes), "this test needs lanes on different nodes")
	_, err := q.DetectLoss(t.Context())
	require.NoError(t, err)
	require.NoError(t, q.CheckWritable(t.Context()))
	for at, lane := range masters {
		require.NoError(t, cluster.Masters[at].Kill())
		require.Error(t, q.CheckWritable(t.Context()), lane)
		require.NoError(t, cluster.Masters[at].Restart(t.Context()))
		require.Eventually(t, func() bool { return q.CheckWritable(t.Context()) == nil }, time.Minute, 20*time.Millisecond,
			"the node is back")
		require.Eventually(t, func() bool {
			lost, err := q.DetectLoss(t.Context())
			return err == nil && lost
		}, time.Minute, 20*time.Millisecond, "the jobs of %s are lost", lane)
	}
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
	jobs := []webhookports.DeliveryJob{job(webhookports.FastLane, 1), job(webhookports.SlowLane, 2)}
	left, err := q.Enqueue(t.Context(), jobs)
	require.Error(t, err)
	require.ElementsMatch(t, jobs, left)
	require.Error(t, q.CheckWritable(t.Context()))
}

// workingBell has every ring lost.
type workingBell struct{}

func (workingBell) NotifyJobs(webhookports.Lane)                 {}
func (workingBell) JobSignals(webhookports.Lane) <-chan struct{} { return nil }
func (workingBell) ReceivesNotifications() bool                  { return true }

// countedBell counts the rings for jobs.
type countedBell struct {
	workingBell
	rings atomic.Int32
}

func (b *countedBell) NotifyJobs(webhookports.Lane) { b.rings.Add(1) }

func TestQueue_AJobThatTheProcessKeeps_IsToldToOthersOnlyBehindAnother(t *testing.T) {
	t.Parallel()
	bell := &countedBell{}
	q := asynq.New(redistest.New(t), slog.New(slog.DiscardHandler), asynq.WithJobNotifier(bell)) // takes no job itself
	enqueue := func(kept bool, n byte) {
		left, err := q.Enqueue(t.Context(), []webhookports.DeliveryJob{{Lane: webhookports.FastLane, Kept: kept,
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

// A relay that failed may have left a task for the same claim, with fewer claims.
func TestQueue_AJobAheadOfItsCommit_IsTakenWhateverTheQueueHas(t *testing.T) {
	t.Parallel()
	q := asynq.New(redistest.New(t), slog.New(slog.DiscardHandler)) // takes no job itself
	for _, c := range []struct {
		ahead bool
		want  int
	}{{true, 1}, {true, 2}, {false, 3}, {false, 3}} {
		left, err := q.Enqueue(t.Context(), []webhookports.DeliveryJob{{Lane: webhookports.FastLane, Ahead: c.ahead,
			Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, Seq: 1}}}})
		require.NoError(t, err)
		require.Empty(t, left)
		depth, err := q.Depth(webhookports.FastLane)
		require.NoError(t, err)
		require.Equal(t, c.want, depth["pending"])
	}
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
		_, err := from.Enqueue(t.Context(), []webhookports.DeliveryJob{job(webhookports.Lanes[i%2], i+1)})
		require.NoError(t, err)
	}
	seen := map[id.ID]bool{}
	for range n {
		seen[(<-got).Claims[0].DeliveryID] = true
	}
	require.Len(t, seen, n)
	stop()
}

// trips notes the round trips of asynq's scripts to Redis: the scripts in each.
type trips struct {
	redis.Hook
	mu  sync.Mutex
	all []string
}

// scripts names a script by the number of its keys.
var scripts = map[string]string{"2": "enqueue", "4": "take", "5": "end"}

func (t *trips) note(cmds ...redis.Cmder) {
	var names []string
	for _, cmd := range cmds {
		if args := cmd.Args(); cmd.Name() == "evalsha" {
			names = append(names, scripts[fmt.Sprint(args[2])])
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, strings.Join(names, " "))
}

func (t *trips) has(trip string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.all, trip)
}

func (t *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { t.note(cmd); return next(ctx, cmd) }
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { t.note(cmds...); return next(ctx, cmds) }
}

func TestQueue_ATaskIsTakenAsItIsEnqueued_TogetherWithTheEndOfTheLast(t *testing.T) {
	t.Parallel()
	client, seen := redistest.New(t), &trips{}
	client.AddHook(seen)
	q := asynq.New(client, slog.New(slog.DiscardHandler), asynq.WithJobNotifier(workingBell{}))
	got, stop := serve(t, q, 64)
	n := byte(0)
	require.Eventually(t, func() bool { // once the server waits, and the last task has ended
		n++
		sent := job(webhookports.FastLane, n)
		left, err := q.Enqueue(t.Context(), []webhookports.DeliveryJob{sent})
		return err == nil && left == nil && (<-got).Claims[0] == sent.Claims[0] && seen.has("end enqueue take")
	}, 10*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool { // the end of the last task waits for no further one
		depth, err := q.Depth(webhookports.FastLane)
		return err == nil && depth["active"] == 0 && depth["pending"] == 0
	}, 5*time.Second, 20*time.Millisecond)
	require.True(t, seen.has("end"))
	stop()
}
