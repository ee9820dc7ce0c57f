// Package asynq carries the dispatcher's jobs through Redis. asynq is a transport of hints here: tasks hold ids alone,
// handlers never fail, and retries, schedules and results are Postgres's (docs/decisions tells why).
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

	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

const (
	taskType = "deliver"
	epochKey = "svc:epoch"
	// shutdownTimeout lets POSTs of 10 s finish before asynq takes the tasks back.
	shutdownTimeout = 15 * time.Second
	// producers bounds how many tasks are enqueued at once; asynq enqueues one a round trip, and a relay for many
	// endpoints has as many tasks.
	producers = 16
)

// checkInterval is how long an idle lane sleeps between looks at its queue, on average. It is most of the latency of a
// quiet service and most of its idle cost.
var checkInterval = map[ports.Lane]time.Duration{
	ports.FastLane: 6 * time.Millisecond,
	ports.SlowLane: 100 * time.Millisecond,
}

// Queue implements ports.JobQueue.
type Queue struct {
	redis  redis.UniversalClient
	client *asynq.Client
	log    *slog.Logger
}

// New gives the queue over a Redis client, which stays the caller's to close.
func New(client redis.UniversalClient, log *slog.Logger) *Queue {
	return &Queue{redis: client, client: asynq.NewClientFromRedisClient(client), log: log}
}

// QueueName is the asynq queue of a lane.
func QueueName(l ports.Lane) string { return "deliveries:" + string(l) }

// Enqueue implements ports.JobQueue.
func (q *Queue) Enqueue(ctx context.Context, jobs []ports.Job) (left []ports.Job, err error) {
	if len(jobs) == 1 {
		if err := q.enqueue(ctx, jobs[0]); err != nil {
			return jobs, err
		}
		return nil, nil
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	places := make(chan struct{}, producers)
	for _, j := range jobs {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
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

func (q *Queue) enqueue(ctx context.Context, j ports.Job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	first := j.Claims[0]
	_, err := q.client.EnqueueContext(ctx, asynq.NewTask(taskType, encode(j)),
		asynq.Queue(QueueName(j.Lane)), asynq.MaxRetry(maxRetry),
		asynq.TaskID(fmt.Sprintf("%s:%d", first.DeliveryID.Encode(), first.Seq)))
	failpoint.Hit("queue.enqueued")
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// Serve implements ports.JobQueue: one asynq server a lane, since weights would share one pool of workers.
func (q *Queue) Serve(ctx context.Context, concurrency map[ports.Lane]int, handle func(context.Context, ports.Job)) error {
	var servers []*asynq.Server
	defer func() {
		var group sync.WaitGroup
		for _, s := range servers {
			group.Go(s.Shutdown)
		}
		group.Wait()
	}()
	for _, lane := range ports.Lanes {
		server := asynq.NewServerFromRedisClient(q.redis, asynq.Config{
			Concurrency:       concurrency[lane],
			Queues:            map[string]int{QueueName(lane): 1},
			TaskCheckInterval: checkInterval[lane],
			ShutdownTimeout:   shutdownTimeout,
			BaseContext:       func() context.Context { return context.WithoutCancel(ctx) },
			Logger:            &quietLog{log: q.log},
			LogLevel:          asynq.WarnLevel,
			RetryDelayFunc:    retryDelay,
		})
		err := server.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
			job, err := decode(lane, t.Payload())
			if err != nil {
				q.log.ErrorContext(ctx, "queue: a task does not read as a job; its deliveries come again when their leases end", "error", err)
				return nil
			}
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

// Ping implements ports.JobQueue.
func (q *Queue) Ping(ctx context.Context) error { return q.redis.Ping(ctx).Err() }

// Epoch implements ports.JobQueue.
func (q *Queue) Epoch(ctx context.Context) (lost bool, err error) {
	return q.redis.SetNX(ctx, epochKey, time.Now().UTC().Format(time.RFC3339Nano), 0).Result()
}

// Tidy implements ports.JobQueue: tasks whose worker died end in asynq's archive, which is of no use here.
func (q *Queue) Tidy(ctx context.Context) error {
	inspector := asynq.NewInspectorFromRedisClient(q.redis)
	for _, lane := range ports.Lanes {
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

// known reports whether a lane's queue ever held a task: asynq's inspector fails over one that did not, in text alone.
func (q *Queue) known(ctx context.Context, lane ports.Lane) (bool, error) {
	return q.redis.SIsMember(ctx, "asynq:queues", QueueName(lane)).Result()
}

// Depth is how many tasks of each state a lane holds, for svc_queue_depth.
func (q *Queue) Depth(lane ports.Lane) (map[string]int, error) {
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
