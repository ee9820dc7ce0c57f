package wire

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/adapters/http/ops"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/dispatchstore"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/system"
	"partnerdeposits/adapters/webhook"
	"partnerdeposits/app/dispatch"
	"partnerdeposits/app/schedules"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/run"
	"partnerdeposits/ports"
)

const userAgent = "partnerdeposits-webhooks/1"

// Dispatcher wires the process that delivers webhooks and does everything that is due by the clock.
func Dispatcher(ctx context.Context, cfg config.Config, log *slog.Logger) (run.Process, error) {
	return DispatcherOn(ctx, cfg, log, Listeners{})
}

// DispatcherOn is Dispatcher with an open listener for operators.
func DispatcherOn(ctx context.Context, cfg config.Config, log *slog.Logger, on Listeners) (run.Process, error) {
	s, err := open(ctx, cfg, log, "schedules", scheduleConns, false)
	if err != nil {
		return run.Process{}, err
	}
	dispatchPool, err := s.newPool(ctx, "dispatch", postgres.PoolOptions{
		MaxConns: dispatchConns, Settings: postgres.IndexPlans,
		// Transactions are short. A transaction of a suspended process, or of a process whose responses get lost, must
		// not lock its rows for long.
		IdleInTransaction: 10 * time.Second,
	})
	if err != nil {
		return run.Process{}, err
	}
	// With a client of its own for the queue, a busy queue does not delay the doorbell.
	queueRedis, _, err := redisadapter.Open(ctx, cfg.RedisURL.Reveal(), redisadapter.SentinelPassword(cfg.RedisSentinelPassword.Reveal()))
	if err != nil {
		return run.Process{}, err
	}
	s.parts = append(s.parts, run.Closer("queue", queueRedis.Close))
	queue := asynq.New(queueRedis, log, queueOptions...)

	registry := metrics.NewRegistry(log)
	registry.PostgresPools(map[string]*pgxpool.Pool{"schedules": s.Pool, "dispatch": dispatchPool, "ops": s.ops})
	registry.RedisPools(map[string]redis.UniversalClient{"doorbell": s.Redis, "queue": queueRedis})
	registry.Backlog(dispatchstore.NewBacklog(s.ops))
	registerQueues(registry, queue)

	sender := webhook.NewSender(webhook.Config{
		Timeout: cfg.WebhookTimeout, EndpointConcurrency: cfg.WebhookEndpointConcurrency, AllowInsecure: cfg.WebhookAllowInsecureTargets,
		EventIDHeader: cfg.WebhookEventIDHeader, UserAgent: userAgent,
	})
	timetable, err := s.scheduler(registry)
	if err != nil {
		return run.Process{}, err
	}
	counted := &queueMode{DispatchMetrics: registry.Dispatch()}
	ready := s.readiness(ops.Check{Name: checkQueue, Run: counted.check, Problem: always("is not used; deliveries go out directly"), Optional: true})
	work := func(deliver func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			if ready.Await(ctx, checkPostgres, checkSchema) != nil {
				return nil // ctx ended before the database answered
			}
			return deliver(ctx)
		}
	}
	return run.Process{
		Name: "dispatcher", Log: log, Drain: ready.Drain,
		Parts: append(s.parts,
			run.Closer("sender", closing(sender.Close)),
			opsPart(listenAddress{on.Ops, "METRICS_ADDR", cfg.MetricsAddr}, ops.Handler(ready, registry.Handler()), log),
			run.Background("readiness", ready.Watch),
			run.Background("kind of redis", s.awaitRedis),
			run.Background("deliveries", work(s.deliver(dispatchPool, queue, sender, counted))),
			run.Background("schedules", work(timetable.Run)),
		),
	}, nil
}

// deliver runs the dispatcher of deliveries.
func (s *process) deliver(pool *pgxpool.Pool, queue *asynq.Queue, sender *webhook.Sender, counted ports.DispatchMetrics) func(context.Context) error {
	store := dispatchstore.New(pool, s.Cipher)
	return func(ctx context.Context) error {
		return dispatch.New(variant(dispatch.Deps{
			Relay: store, Claims: store, Work: store, Queue: queue, Sender: sender, Clock: system.Clock{}, Entropy: system.Entropy{}, Metrics: counted,
			Random: rand.Float64, Bell: redisadapter.Listen(ctx, s.Redis), Log: s.log,
		}), dispatch.Config{
			Schedule: s.cfg.Retries(), Timeout: s.cfg.WebhookTimeout, Concurrency: s.cfg.WebhookConcurrency,
			EndpointConcurrency: s.cfg.WebhookEndpointConcurrency,
		}).Run(ctx)
	}
}

// queueMode notes the way of jobs to workers, for /readyz.
type queueMode struct {
	ports.DispatchMetrics
	direct atomic.Bool
}

var errDirect = errors.New("the queue's store takes no jobs, or took none lately")

// QueueMode implements ports.DispatchMetrics.
func (q *queueMode) QueueMode(mode ports.QueueMode) {
	q.direct.Store(mode == ports.QueueDirect)
	q.DispatchMetrics.QueueMode(mode)
}

func (q *queueMode) check(context.Context) error {
	if q.direct.Load() {
		return errDirect
	}
	return nil
}

// scheduler holds all jobs that are due by the clock.
func (s *process) scheduler(registry *metrics.Registry) (*schedules.Scheduler, error) {
	every := s.cfg.SchedulerInterval
	mails, err := s.mailJobs(every)
	if err != nil {
		return nil, err
	}
	parts := DefaultParts(s.cfg, s.Stores, system.Clock{}, s.log)
	parts.warnWithoutPayments()
	parts.DepositMetrics = registry.Deposits()
	all := NewServices(s.cfg, s.Stores, parts)
	jobs := slices.Concat(
		schedules.DepositJobs(all.Timers, all.Payments, every),
		schedules.Maintenance{Tables: s.Postgres, UnitOfWork: s.Postgres, Clock: parts.Clock, Log: s.log}.Jobs(),
		mails,
		[]schedules.Job{schedules.ReplayJob(all.Webhooks)},
	)
	return schedules.New(s.log, registry.Jobs(schedules.Names(jobs)), jobs...), nil
}

func registerQueues(registry *metrics.Registry, queue *asynq.Queue) {
	var names []string
	lanes := map[string]ports.Lane{}
	for _, lane := range ports.Lanes {
		names = append(names, asynq.QueueName(lane))
		lanes[asynq.QueueName(lane)] = lane
	}
	registry.Queues(names, []string{"pending", "active", "archived"}, func(name string) (map[string]int, error) { return queue.Depth(lanes[name]) })
}
