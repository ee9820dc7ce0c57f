package wire

import (
	"context"
	"errors"
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
	platformtables "partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/system"
	"partnerdeposits/adapters/webhook"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/services"
)

const userAgent = "partnerdeposits-webhooks/1"

// Dispatcher builds the process that delivers webhooks and runs everything that is due by the clock.
func Dispatcher(ctx context.Context, cfg config.Config, log run.Log) (run.Process, error) {
	return DispatcherOn(ctx, cfg, log, Listeners{})
}

// DispatcherOn builds the dispatcher process with a listener for metrics and health checks that is open already.
func DispatcherOn(ctx context.Context, cfg config.Config, log run.Log, on Listeners) (run.Process, error) {
	s, err := open(ctx, cfg, log, "schedules", scheduleConns, false)
	if err != nil {
		return run.Process{}, err
	}
	dispatchPool, err := s.newPool(ctx, "dispatch", postgres.PoolOptions{
		MaxConns: dispatchConns, Settings: postgres.IndexPlans, PingAfter: loopPing,
		// Transactions of the dispatcher are short. If a process is suspended or its responses get lost, its transaction
		// must not lock rows for long.
		IdleInTransaction: 10 * time.Second,
	})
	if err != nil {
		return run.Process{}, err
	}
	// The queue has a Redis client of its own, so that a busy queue does not delay wake-up notifications.
	queueRedis, _, err := redisadapter.Open(ctx, cfg.RedisURL.Reveal(),
		redisadapter.SentinelPassword(cfg.RedisSentinelPassword.Reveal()))
	if err != nil {
		return run.Process{}, err
	}
	s.parts = append(s.parts, run.Closer("queue", queueRedis.Close))
	ear := redisadapter.NewListener(s.redis)
	queue := asynq.New(queueRedis, s.log, asynq.WithBell(bell{s.bell, ear}))

	registry := s.registry
	s.pools["dispatch"] = dispatchPool
	registry.PostgresPools(s.pools)
	registry.RedisPools(map[string]redis.UniversalClient{"doorbell": s.redis, "queue": queueRedis})
	registry.Backlog(dispatchstore.NewBacklog(s.ops))
	registerQueues(registry, queue)

	sender := webhook.NewSender(webhook.Config{
		Timeout: cfg.WebhookTimeout, EndpointConcurrency: cfg.WebhookEndpointConcurrency,
		AllowInsecure: cfg.WebhookAllowInsecureTargets,
		BlockedPorts:  cfg.WebhookBlockedPorts, EventIDHeader: cfg.WebhookEventIDHeader, UserAgent: userAgent,
		NoSocket: s.sockets.Failed,
	})
	counted := &queueMode{DispatchMetrics: registry.Dispatch()}
	timetable, err := s.scheduler(registry, counted)
	if err != nil {
		return run.Process{}, err
	}
	ready := s.readiness(
		ops.Check{Name: checkQueue, Run: counted.check, Problem: always("is not used; deliveries go out directly"),
			Optional: true},
		// Another machine's dispatcher may have a working internet connection, so this process stays ready.
		ops.Check{Name: checkOutbound, Run: counted.checkOutbound,
			Problem: always("is broken, it seems: most endpoints get no connection"), Optional: true},
	)
	return run.Process{
		Name: "dispatcher", Log: s.log, Drain: ready.Drain,
		Parts: append(s.parts,
			run.Closer("sender", closing(sender.Close)),
			s.opsPart(on.Ops, s.opsHandler(ready, registry.Handler(traced(cfg)))),
			run.Background("readiness", ready.Watch),
			run.Background("kind of redis", s.awaitRedis),
			run.Background("doorbell's listener", ear.Run),
			run.Background("deliveries", onceReady(ready, s.deliver(dispatchPool, queue, sender, counted, ear))),
			run.Background("schedules", onceReady(ready, timetable.Run)),
		),
	}, nil
}

// onceReady returns a function that waits until the database is reachable and has the schema and the keyset
// that the process needs, and then runs work.
func onceReady(ready *ops.Readiness, work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if ready.Await(ctx, checkPostgres, checkSchema, checkKeyset) != nil {
			return nil // ctx ended before the database was ready, which is not a failure.
		}
		return work(ctx)
	}
}

// bell sends wake-up notifications to other processes through Redis, unless none of them listens.
type bell struct {
	*redisadapter.Doorbell
	*redisadapter.Listener
}

// RingJobs notifies other dispatchers, if there are any, that a lane (one of the two job queues) has new jobs.
func (b bell) RingJobs(lane webhookports.Lane) {
	if b.Accompanied() {
		b.Doorbell.RingJobs(lane)
	}
}

// RingFeeds wakes the HTTP requests that wait for new events of the partners, if any requests wait.
func (b bell) RingFeeds(partners []id.ID) {
	if b.FeedsAwaited() {
		b.Doorbell.RingFeeds(partners)
	}
}

// deliver returns the function that runs the delivery of webhooks.
func (s *process) deliver(
	pool *pgxpool.Pool, queue *asynq.Queue, sender *webhook.Sender, counted *queueMode, ear *redisadapter.Listener,
) func(context.Context) error {
	store := dispatchstore.New(pool, s.Cipher)
	return func(ctx context.Context) error {
		deps := dispatch.Deps{
			Relay: store, Claims: store, Work: store, Endpoints: store, Queue: queue, Sender: sender, Clock: system.Clock{},
			Metrics: counted,
			Random:  rand.Float64, Log: s.log, Bell: ear.Events(), DueBell: ear.Due(), BellWorks: ear.Works, Leads: ear.Leads,
			RingFeeds:      bell{s.bell, ear}.RingFeeds,
			OutboundBroken: counted.outbound.Store, KeysetProven: s.proven.Load,
		}
		if traced(s.cfg) {
			deps = traceDeliveries(deps)
		}
		return dispatch.New(deps, dispatch.Config{
			Schedule: s.cfg.Retries(), Timeout: s.cfg.WebhookTimeout, Concurrency: s.cfg.WebhookConcurrency,
			EndpointConcurrency: s.cfg.WebhookEndpointConcurrency,
		}).Run(ctx)
	}
}

// queueMode records for /readyz whether jobs bypass the queue in Redis, and whether this service's own internet
// connection is broken.
type queueMode struct {
	webhookports.DispatchMetrics
	direct, outbound atomic.Bool
}

var (
	errDirect   = errors.New("the queue's store takes no jobs, or took none lately")
	errOutbound = errors.New("endpoints of several partners began to fail at once, by dns, connect or tls")
)

// QueueMode records and counts whether jobs go through the queue in Redis or directly to the workers of this
// process.
func (q *queueMode) QueueMode(mode webhookports.QueueMode) {
	q.direct.Store(mode == webhookports.QueueDirect)
	q.DispatchMetrics.QueueMode(mode)
}

func (q *queueMode) check(context.Context) error {
	if q.direct.Load() {
		return errDirect
	}
	return nil
}

func (q *queueMode) checkOutbound(context.Context) error {
	if q.outbound.Load() {
		return errOutbound
	}
	return nil
}

// scheduler returns the scheduler with all jobs that are due by the clock.
func (s *process) scheduler(registry *metrics.Registry,
	ended webhookports.DispatchMetrics) (*schedules.Scheduler, error) {
	every := s.cfg.SchedulerInterval
	mailJobs, err := s.mailJobs(registry.Mails(), every)
	if err != nil {
		return nil, err
	}
	parts := services.DefaultParts(s.cfg, s.Stores, system.Clock{}, s.log)
	parts.WarnWithoutPayments()
	s.limits(&parts, func() {})
	parts.DepositMetrics, parts.PaymentMetrics = registry.Deposits(), registry.Payments()
	all := services.New(s.cfg, s.Stores, parts)
	store := s.Postgres
	endpoints := webhooks.EndpointNotices{
		Notices: store.Notices, Mails: store.Mails, Endpoints: dispatchstore.NewBacklog(s.ops), UnitOfWork: parts.UnitOfWork,
		Clock: parts.Clock, Entropy: parts.Entropy, APIBaseURL: s.cfg.APIBaseURL,
	}
	operators := deposits.OperatorNotices{
		Notices: store.OperatorNotices, Mails: store.Mails, Addresses: store.Addresses, UnitOfWork: parts.UnitOfWork,
		Clock: parts.Clock, Entropy: parts.Entropy, DashboardURL: s.cfg.DashboardBaseURL, Imprint: s.cfg.Imprint(),
		VerifyAddresses: s.cfg.VerifiesAddresses(),
	}
	tenants := payments.TenantNotices{
		Notices: store.TenantNotices, Mails: store.Mails, Deposits: store.Deposits, Operators: store.Operators,
		Collections: store.Collections, Refunds: store.Refunds, Payments: store.Payments, Agreements: store.Agreements,
		UnitOfWork: parts.UnitOfWork, Clock: parts.Clock, Entropy: parts.Entropy, Log: s.log,
		DashboardURL: s.cfg.DashboardBaseURL,
		SupportEmail: s.cfg.SupportEmail,
	}
	upkeep := payments.Upkeep{
		Callbacks: all.Callbacks, Erasures: store.Erasures, Eraser: parts.Eraser, Audit: store.Audit,
		Metrics:    registry.Books(),
		UnitOfWork: parts.UnitOfWork, Clock: parts.Clock, Entropy: parts.Entropy,
	}
	if parts.Books != nil {
		upkeep.Books = all.Books
	}
	files := deposits.WaitingFiles{
		Files: store.Files, Contents: store.Contents, UnitOfWork: parts.UnitOfWork, Clock: parts.Clock,
	}
	retention := webhooks.Retention{
		Tables: store.Retention, Replays: store.Replays, UnitOfWork: parts.UnitOfWork, Metrics: ended, Clock: parts.Clock,
		Log: s.log,
	}
	jobs := slices.Concat(
		all.Timers.Jobs(every), operators.Jobs(every), upkeep.Jobs(every), all.Operators.Jobs(every), retention.Jobs(),
		mailJobs,
		[]schedules.Job{
			all.Payments.Job(every), tenants.Job(every), endpoints.Job(every), all.Webhooks.ReplayJob(), files.Job(),
			all.Deposits.DraftsJob(),
			all.Clients.AddressJob(), all.Idempotent.CleanJob(parts.Clock), mails.CleanJob(store.Mails, parts.Clock),
		},
	)
	return schedules.New(s.log, registry.Jobs(schedules.Names(jobs)), s.looksForWork(parts.Clock), jobs...), nil
}

// looksForWork returns the query that finds out which of the dispatcher's jobs have work. It uses connections
// on which Postgres avoids scans of whole tables.
func (s *process) looksForWork(clock ports.Clock) schedules.Look {
	work := platformtables.NewWaitingWork(s.ops)
	return func(ctx context.Context) (ports.Waiting, error) {
		now := clock.Now()
		return work.WaitingWork(ctx, now, now.Add(-s.cfg.Timers().CheckoutIdleAfter))
	}
}

func registerQueues(registry *metrics.Registry, queue *asynq.Queue) {
	var names []string
	lanes := map[string]webhookports.Lane{}
	for _, lane := range webhookports.Lanes {
		names = append(names, asynq.QueueName(lane))
		lanes[asynq.QueueName(lane)] = lane
	}
	registry.Queues(names, []string{"pending", "active", "archived"},
		func(name string) (map[string]int, error) { return queue.Depth(lanes[name]) })
}
