// Package asynq carries the dispatcher's jobs through Redis. A task has ids only and its handler never fails:
// Postgres decides on retries, schedules and results (delivery.md, point 3).
package asynq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/ports/platform/failpoint"
	"partnerdeposits/ports/platform/outage"
	webhookports "partnerdeposits/ports/webhooks"
)

const (
	taskType = "deliver"
	// Prefixes of Redis keys of the job queue. The lane's name (fast or slow) follows, so that the keys are in the
	// same slot of a Redis cluster as the lane's queue.
	epochKey = "svc:epoch:"
	probeKey = "svc:probe:"
	// probeLife is the time after which Redis deletes the key that a test of the queue wrote.
	probeLife = time.Minute
	// shutdownTimeout is longer than an attempt, so POSTs in flight finish before asynq puts their tasks back.
	shutdownTimeout = 15 * time.Second
	// producers bounds the tasks that are enqueued in parallel, because asynq needs a round trip for each task.
	producers = 16
)

// quickPoll is the mean time between two polls of an empty queue, by lane (fast or slow), while no wake-up
// notifications arrive.
var quickPoll = map[webhookports.Lane]time.Duration{
	webhookports.FastLane: 6 * time.Millisecond,
	webhookports.SlowLane: 100 * time.Millisecond,
}

// Intervals of asynq's own background tasks. They are long, since this service decides when a queue is polled,
// and its tasks are neither scheduled nor kept.
const (
	checkInterval   = time.Microsecond
	forwardInterval = time.Minute
	janitorInterval = time.Hour
)

// Queue is the queue of jobs in Redis, over asynq.
type Queue struct {
	redis  redis.UniversalClient
	client *asynq.Client
	log    *slog.Logger
	outage *outage.Log
	bell   JobNotifier
	// A channel for each lane (fast and slow), with a signal for each job of this process, which makes the lane's
	// server poll.
	own       map[webhookports.Lane]chan struct{}
	pipelines map[webhookports.Lane]*pipeline
}

type Option func(*Queue)

// WithJobNotifier sets the notifications that wake the dispatchers for new jobs, and that replace most of the polling.
func WithJobNotifier(bell JobNotifier) Option { return func(q *Queue) { q.bell = bell } }

// New returns a queue over a Redis client, which the caller closes.
func New(client redis.UniversalClient, log *slog.Logger, options ...Option) *Queue {
	q := &Queue{
		redis: client, log: log, outage: outage.New(log), bell: noNotifier{}, own: map[webhookports.Lane]chan struct{}{},
		pipelines: map[webhookports.Lane]*pipeline{},
	}
	byKey := map[string]*pipeline{}
	for _, lane := range webhookports.Lanes {
		q.own[lane], q.pipelines[lane] = make(chan struct{}, ownJobs), newPipeline(client)
		byKey[pendingKey(QueueName(lane))] = q.pipelines[lane]
	}
	q.client = asynq.NewClientFromRedisClient(enqueueClient{client, byKey})
	for _, set := range options {
		set(q)
	}
	return q
}

func QueueName(l webhookports.Lane) string { return "deliveries:" + string(l) }

func (q *Queue) Enqueue(ctx context.Context, jobs []webhookports.DeliveryJob) (left []webhookports.DeliveryJob,
	err error) {
	if len(jobs) == 1 {
		if err := q.enqueue(ctx, jobs[0]); err != nil {
			return jobs, err
		}
		return nil, nil
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	slots := make(chan struct{}, producers)
	for _, j := range jobs {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if e := q.enqueue(ctx, j); e != nil {
				mu.Lock()
				defer mu.Unlock()
				left, err = append(left, j), e
			}
		})
	}
	group.Wait()
	return left, err
}

func (q *Queue) enqueue(ctx context.Context, j webhookports.DeliveryJob) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	taken, options := false, []asynq.Option{asynq.Queue(QueueName(j.Lane)), asynq.MaxRetry(0)}
	if first := j.Claims[0]; !j.Ahead {
		// A job whose deliveries are committed gets a fixed id, so that it is queued only once.
		options = append(options, asynq.TaskID(fmt.Sprintf("%s:%d", first.DeliveryID.Encode(), first.Seq)))
	}
	_, err := q.client.EnqueueContext(context.WithValue(ctx, takenKey{}, &taken),
		asynq.NewTaskWithHeaders(taskType, encode(j), headersOf(j)), options...)
	failpoint.Hit("queue.enqueued")
	if !taken {
		select {
		case q.own[j.Lane] <- struct{}{}:
		default: // The channel is full: with so many signals, the next polls are not held back anyway.
		}
	}
	// If an earlier job of this process still waits, notify the other dispatchers, which may have free workers.
	if !j.Kept || len(q.own[j.Lane]) > 1 {
		q.bell.NotifyJobs(j.Lane)
	}
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// Serve runs handle for each job until ctx ends, with one server for each lane (fast and slow), because the queues
// of a server share its workers.
func (q *Queue) Serve(ctx context.Context, concurrency map[webhookports.Lane]int,
	handle func(context.Context, webhookports.DeliveryJob)) error {
	var servers []*asynq.Server
	defer func() {
		var group sync.WaitGroup
		for _, s := range servers {
			group.Go(s.Shutdown)
		}
		group.Wait()
	}()
	for _, lane := range webhookports.Lanes {
		server := q.server(ctx, lane, concurrency[lane])
		err := server.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
			job, err := decode(lane, t.Payload())
			if err != nil {
				q.log.ErrorContext(ctx, "queue: a task does not read as a job; its deliveries come again when their leases end",
					"error", err)
				return nil
			}
			readHeaders(&job, t.Headers())
			handle(ctx, job)
			return nil
		}))
		if err != nil {
			return fmt.Errorf("queue: start lane %s: %w", lane, err)
		}
		servers = append(servers, server)
	}
	<-ctx.Done()
	return nil
}

func (q *Queue) server(ctx context.Context, lane webhookports.Lane, concurrency int) *asynq.Server {
	q.pipelines[lane].holds(concurrency)
	client := &pollGate{
		UniversalClient: q.redis, pipeline: q.pipelines[lane], own: q.own[lane], jobs: q.bell.JobSignals(lane),
		works:  q.bell.ReceivesNotifications,
		quick:  quickPoll[lane],
		closed: ctx.Done(),
	}
	return asynq.NewServerFromRedisClient(client, asynq.Config{
		Concurrency:              concurrency,
		Queues:                   map[string]int{QueueName(lane): 1},
		TaskCheckInterval:        checkInterval,
		DelayedTaskCheckInterval: forwardInterval,
		JanitorInterval:          janitorInterval,
		ShutdownTimeout:          shutdownTimeout,
		BaseContext:              func() context.Context { return context.WithoutCancel(ctx) },
		Logger:                   libraryLog{q.outage},
		LogLevel:                 asynq.WarnLevel,
	})
}

// CheckWritable writes a test key where the jobs of each lane (fast and slow) are stored, and returns an error if
// a key could not be written.
func (q *Queue) CheckWritable(ctx context.Context) error {
	err := q.eachLane(func(lane webhookports.Lane) error {
		return q.redis.Set(ctx, slotOf(probeKey, lane), "", probeLife).Err()
	})
	if cluster, ok := q.redis.(*redis.ClusterClient); ok && err != nil {
		// If a master of the Redis cluster died, its client learns of the successor only by a reload.
		cluster.ReloadState(ctx)
	}
	return err
}

// DetectLoss sets a marker in Redis where the jobs of each lane (fast and slow) are stored; lost reports whether
// an earlier marker is gone, and the jobs with it.
func (q *Queue) DetectLoss(ctx context.Context) (lost bool, err error) {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	err = q.eachLane(func(lane webhookports.Lane) error {
		created, err := q.redis.SetNX(ctx, slotOf(epochKey, lane), now, 0).Result()
		lost = lost || created
		return err
	})
	if err == nil {
		q.outage.RecordSuccess(ctx)
	}
	return lost, err
}

// eachLane calls ask for every lane (fast and slow), even after an error, and returns all errors.
func (q *Queue) eachLane(ask func(webhookports.Lane) error) error {
	var errs []error
	for _, lane := range webhookports.Lanes {
		errs = append(errs, ask(lane))
	}
	return errors.Join(errs...)
}

// slotOf returns a Redis key in the same cluster slot as a lane's queue (fast or slow): asynq puts
// the name of the queue into braces, too.
func slotOf(prefix string, lane webhookports.Lane) string {
	return prefix + "{" + QueueName(lane) + "}"
}

// DeleteArchived deletes the tasks of workers that died, which asynq archives: nothing reads that archive.
func (q *Queue) DeleteArchived(ctx context.Context) error {
	inspector := asynq.NewInspectorFromRedisClient(q.redis)
	for _, lane := range webhookports.Lanes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		known, err := q.known(ctx, lane)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if _, err := inspector.DeleteAllArchivedTasks(QueueName(lane)); err != nil {
			return err
		}
	}
	return nil
}

// known reports whether a lane's queue (fast or slow) ever had a task; asynq shows an unknown queue only by the
// text of its error.
func (q *Queue) known(ctx context.Context, lane webhookports.Lane) (bool, error) {
	return q.redis.SIsMember(ctx, "asynq:queues", QueueName(lane)).Result()
}

// Depth returns the number of tasks in a lane's queue (fast or slow) by their state, for
// svc_queue_depth.
func (q *Queue) Depth(lane webhookports.Lane) (map[string]int, error) {
	known, err := q.known(context.Background(), lane)
	if err != nil || !known {
		return map[string]int{}, err
	}
	info, err := asynq.NewInspectorFromRedisClient(q.redis).GetQueueInfo(QueueName(lane))
	if err != nil {
		return nil, err
	}
	return map[string]int{"pending": info.Pending, "active": info.Active, "archived": info.Archived}, nil
}
