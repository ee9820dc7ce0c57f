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
	// QueueName is the name of the queue in Redis. The last release had a queue for each lane and called that of the
	// fast lane so; dispatchers of both releases share it during a rolling deployment.
	QueueName = "deliveries:fast"
	// Redis keys beside the queue, with its name in braces, as asynq has it: so a Redis cluster keeps them together.
	epochKey = "svc:epoch:{" + QueueName + "}"
	probeKey = "svc:probe:{" + QueueName + "}"
	// shutdownTimeout is longer than an attempt, so POSTs in flight finish before asynq puts their tasks back.
	shutdownTimeout = 15 * time.Second
	// quickPoll is the mean time between two polls of an empty queue while no wake-up notifications arrive.
	quickPoll = 6 * time.Millisecond
)

const (
	// checkInterval is asynq's pause between two polls of an empty queue: none, since the gate decides when to poll.
	checkInterval = time.Microsecond
	// tidyInterval is the time between two runs of asynq's own background tasks, which are for tasks that are scheduled
	// or kept: here none is.
	tidyInterval = time.Hour
)

// Queue is the queue of jobs in Redis, over asynq.
type Queue struct {
	redis  redis.UniversalClient
	client *asynq.Client
	log    *slog.Logger
	outage *outage.Log
	bell   JobNotifier
	// A channel with a signal for each job of this process, which makes its server poll.
	own chan struct{}
	// The SHA-1 of the script by which asynq takes a task.
	takes string
}

type Option func(*Queue)

// WithJobNotifier sets the notifications that wake the dispatchers for new jobs, and that replace most of the polling.
func WithJobNotifier(bell JobNotifier) Option { return func(q *Queue) { q.bell = bell } }

// New returns a queue over a Redis client, which the caller closes.
func New(client redis.UniversalClient, log *slog.Logger, options ...Option) *Queue {
	q := &Queue{
		redis: client, client: asynq.NewClientFromRedisClient(client), log: log, outage: outage.New(log),
		bell: noNotifier{}, own: make(chan struct{}, ownJobs), takes: takeScript,
	}
	for _, set := range options {
		set(q)
	}
	return q
}

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
	for _, j := range jobs { // In parallel, because asynq needs a round trip for each task.
		group.Go(func() {
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

// enqueue adds a job to the queue as a task whose id is that of its first claim, so that it is queued only once.
func (q *Queue) enqueue(ctx context.Context, j webhookports.DeliveryJob) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	first := j.Claims[0]
	_, err := q.client.EnqueueContext(ctx, asynq.NewTaskWithHeaders(taskType, encode(j), headersOf(j)),
		asynq.Queue(QueueName), asynq.MaxRetry(0),
		asynq.TaskID(fmt.Sprintf("%s:%d", first.DeliveryID.Encode(), first.Seq)))
	failpoint.Hit("queue.enqueued")
	select {
	case q.own <- struct{}{}:
	default: // The channel is full: with so many signals, the next polls are not held back anyway.
	}
	// If an earlier job of this process still waits, notify the other dispatchers, which may have free workers.
	if !j.Kept || len(q.own) > 1 {
		q.bell.NotifyJobs()
	}
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// Serve runs handle for each job, concurrency of them at a time, until ctx ends. It returns ErrUnknownScripts if asynq
// takes tasks in a way that the gate does not know.
func (q *Queue) Serve(ctx context.Context, concurrency int,
	handle func(context.Context, webhookports.DeliveryJob)) error {
	gate := &pollGate{
		UniversalClient: q.redis, takes: q.takes, polled: make(chan struct{}), own: q.own, jobs: q.bell.JobSignals(),
		works: q.bell.ReceivesNotifications, closed: ctx.Done(),
	}
	server := q.server(ctx, gate, concurrency)
	err := server.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		job, err := decode(t.Payload())
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
		return fmt.Errorf("queue: start: %w", err)
	}
	defer server.Shutdown()
	if err := gate.awaitPoll(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (q *Queue) server(ctx context.Context, gate *pollGate, concurrency int) *asynq.Server {
	return asynq.NewServerFromRedisClient(gate, asynq.Config{
		Concurrency:              concurrency,
		Queues:                   map[string]int{QueueName: 1},
		TaskCheckInterval:        checkInterval,
		DelayedTaskCheckInterval: tidyInterval,
		JanitorInterval:          tidyInterval,
		ShutdownTimeout:          shutdownTimeout,
		BaseContext:              func() context.Context { return context.WithoutCancel(ctx) },
		Logger:                   libraryLog{q.outage},
		LogLevel:                 asynq.WarnLevel,
	})
}

// CheckWritable writes a test key into the Redis node that stores the jobs, and returns the error of that write.
func (q *Queue) CheckWritable(ctx context.Context) error {
	err := q.redis.Set(ctx, probeKey, "", 0).Err()
	if cluster, ok := q.redis.(*redis.ClusterClient); ok && err != nil {
		// If a master of the Redis cluster died, its client learns of the successor only by a reload.
		cluster.ReloadState(ctx)
	}
	return err
}

// DetectLoss sets a marker in the Redis node that stores the jobs; lost reports whether an earlier marker is gone, and
// the jobs with it.
func (q *Queue) DetectLoss(ctx context.Context) (lost bool, err error) {
	lost, err = q.redis.SetNX(ctx, epochKey, time.Now().UTC().Format(time.RFC3339Nano), 0).Result()
	if err == nil {
		q.outage.RecordSuccess(ctx)
	}
	return lost, err
}

// DeleteArchived deletes the tasks of workers that died, which asynq archives: nothing reads that archive.
func (q *Queue) DeleteArchived(ctx context.Context) error {
	known, err := q.known(ctx)
	if err != nil || !known {
		return err
	}
	_, err = asynq.NewInspectorFromRedisClient(q.redis).DeleteAllArchivedTasks(QueueName)
	return err
}

// known reports whether the queue ever had a task; asynq shows an unknown queue only by the text of its error.
func (q *Queue) known(ctx context.Context) (bool, error) {
	return q.redis.SIsMember(ctx, "asynq:queues", QueueName).Result()
}

// Depth returns the number of tasks in the queue by their state, for svc_queue_depth.
func (q *Queue) Depth() (map[string]int, error) {
	known, err := q.known(context.Background())
	if err != nil || !known {
		return map[string]int{}, err
	}
	info, err := asynq.NewInspectorFromRedisClient(q.redis).GetQueueInfo(QueueName)
	if err != nil {
		return nil, err
	}
	return map[string]int{"pending": info.Pending, "active": info.Active, "archived": info.Archived}, nil
}
