// Package asynq carries the dispatcher's jobs through Redis. A task has ids only and its handler never fails: Postgres
// decides on retries, schedules and results (delivery.md, point 3).
package asynq

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
	"partnerdeposits/ports/outage"
)

const (
	taskType = "deliver"
	// epochKey and probeKey lie, with the lane's name, in the slot of the lane's queue.
	epochKey = "svc:epoch:"
	probeKey = "svc:probe:"
	// probeLife ends the keys of a probe.
	probeLife = time.Minute
	// shutdownTimeout is longer than an attempt, so POSTs in flight finish before asynq puts their tasks back.
	shutdownTimeout = 15 * time.Second
	// producers bounds the tasks that are enqueued in parallel, because asynq needs a round trip for each task.
	producers = 16
)

// checkInterval is the mean time between two polls of an empty queue, the cause of most of the latency and the cost of an
// idle service.
var checkInterval = map[ports.Lane]time.Duration{
	ports.FastLane: 6 * time.Millisecond,
	ports.SlowLane: 100 * time.Millisecond,
}

// Queue implements ports.JobQueue.
type Queue struct {
	redis      redis.UniversalClient
	client     *asynq.Client
	log        *slog.Logger
	outage     *outage.Log // of asynq's servers
	maxRetries int
	retryDelay asynq.RetryDelayFunc
}

// Option changes a Queue.
type Option func(*Queue)

// WithRetries has asynq run a job again after the delay when its handler panics. Only a broken variant of the service
// uses this option (docs/guides/faults.md).
func WithRetries(most int, delay time.Duration) Option {
	return func(q *Queue) {
		q.maxRetries, q.retryDelay = most, func(int, error, *asynq.Task) time.Duration { return delay }
	}
}

// New returns a queue over a Redis client, which the caller closes.
func New(client redis.UniversalClient, log *slog.Logger, options ...Option) *Queue {
	q := &Queue{redis: client, client: asynq.NewClientFromRedisClient(client), log: log, outage: outage.New(log)}
	for _, set := range options {
		set(q)
	}
	return q
}

// QueueName returns the name of a lane's asynq queue.
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

func (q *Queue) enqueue(ctx context.Context, j ports.Job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	first := j.Claims[0]
	_, err := q.client.EnqueueContext(ctx, asynq.NewTask(taskType, encode(j)),
		asynq.Queue(QueueName(j.Lane)), asynq.MaxRetry(q.maxRetries),
		asynq.TaskID(fmt.Sprintf("%s:%d", first.DeliveryID.Encode(), first.Seq)))
	failpoint.Hit("queue.enqueued")
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// Serve implements ports.JobQueue with one asynq server for each lane, because the queues of a server share its workers.
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
			Logger:            libraryLog{q.outage},
			LogLevel:          asynq.WarnLevel,
			RetryDelayFunc:    q.retryDelay,
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

// Probe implements ports.JobQueue.
func (q *Queue) Probe(ctx context.Context) error {
	err := q.eachLane(func(lane ports.Lane) error {
		return q.redis.Set(ctx, slotOf(probeKey, lane), "", probeLife).Err()
	})
	if cluster, ok := q.redis.(*redis.ClusterClient); ok && err != nil {
		cluster.ReloadState(ctx) // a master that died says nothing of its successor
	}
	return err
}

// Epoch implements ports.JobQueue.
func (q *Queue) Epoch(ctx context.Context) (lost bool, err error) {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	err = q.eachLane(func(lane ports.Lane) error {
		created, err := q.redis.SetNX(ctx, slotOf(epochKey, lane), now, 0).Result()
		lost = lost || created
		return err
	})
	if err == nil {
		q.outage.Worked(ctx)
	}
	return lost, err
}

// eachLane asks for every lane, even after an error.
func (q *Queue) eachLane(ask func(ports.Lane) error) error {
	var errs []error
	for _, lane := range ports.Lanes {
		errs = append(errs, ask(lane))
	}
	return errors.Join(errs...)
}

// slotOf is a key in the slot of a lane's queue: asynq puts the name of the queue into braces, too.
func slotOf(prefix string, lane ports.Lane) string { return prefix + "{" + QueueName(lane) + "}" }

// Tidy implements ports.JobQueue. asynq archives the tasks of workers that died; nothing reads that archive.
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

// known reports whether a lane's queue ever had a task. For an unknown queue, asynq's inspector returns an error that only
// its text identifies.
func (q *Queue) known(ctx context.Context, lane ports.Lane) (bool, error) {
	return q.redis.SIsMember(ctx, "asynq:queues", QueueName(lane)).Result()
}

// Depth counts the tasks of a lane by state, for svc_queue_depth.
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

// The payload of a task is an encoded job: a byte version, a byte urgent, then for each claim the ids of the subscription and
// the delivery and the seq in 4 bytes. The payload is small, because asynq writes a task again at each of its steps.
const (
	version    = 2
	headerSize = 2
	claimSize  = 2*len(id.ID{}) + 4
)

var errPayload = errors.New("asynq: not a payload of ours")

func encode(j ports.Job) []byte {
	b := make([]byte, 0, headerSize+len(j.Claims)*claimSize)
	b = append(b, version, 0)
	if j.Urgent {
		b[1] = 1
	}
	for _, c := range j.Claims {
		b = append(append(b, c.SubscriptionID[:]...), c.DeliveryID[:]...)
		b = binary.BigEndian.AppendUint32(b, uint32(c.Seq)) //nolint:gosec // counts up from 1
	}
	return b
}

func decode(lane ports.Lane, b []byte) (ports.Job, error) {
	if len(b) < headerSize+claimSize || b[0] != version || (len(b)-headerSize)%claimSize != 0 {
		return ports.Job{}, errPayload
	}
	j := ports.Job{Lane: lane, Urgent: b[1] == 1}
	for rest := b[headerSize:]; len(rest) > 0; rest = rest[claimSize:] {
		j.Claims = append(j.Claims, ports.Claim{
			SubscriptionID: id.ID(rest[:16]), DeliveryID: id.ID(rest[16:32]), Seq: int32(binary.BigEndian.Uint32(rest[32:claimSize])), //nolint:gosec // as encoded
		})
	}
	return j, nil
}
