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
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/services"
)

const userAgent = "partnerdeposits-webhooks/1"

// BuildDispatcher builds the process that delivers webhooks and does what is due by the clock.
func BuildDispatcher(ctx context.Context, cfg config.Config, log run.Log) (run.Process, error) {
	return BuildDispatcherOnListeners(ctx, cfg, log, Listeners{})
}

// BuildDispatcherOnListeners builds the dispatcher with a listener for metrics and health checks that is open
// already.
func BuildDispatcherOnListeners(ctx context.Context, cfg config.Config, log run.Log, on Listeners) (run.Process,
	error) {
	s, err := open(ctx, cfg, log, "schedules", scheduleConns, false)
	if err != nil {
		return run.Process{}, err
	}
	dispatchPool, err := s.newPool(ctx, "dispatch", postgres.PoolOptions{
		MaxConns: dispatchConns, Settings: postgres.IndexPlanSettings, PingAfter: loopPing,
		// The dispatcher's transactions are short. One whose process is suspended must not lock rows for long.
		IdleInTransaction: 10 * time.Second,
	})
	if err != nil {
		return run.Process{}, err
	}
	// The queue has its own Redis client, so that it does not delay wake-up notifications.
	queueRedis, _, err := redisadapter.Open(ctx, cfg.RedisURL.Reveal(),
		redisadapter.WithSentinelPassword(cfg.RedisSentinelPassword.Reveal()))
	if err != nil {
		return run.Process{}, err
	}
	s.parts = append(s.parts, run.NewCloserPart("queue", queueRedis.Close))
	ear := redisadapter.NewListener(s.redis)
	queue := asynq.New(queueRedis, s.log, asynq.WithJobNotifier(doorbell{s.bell, ear}))

	registry := s.registry
	s.pools["dispatch"] = dispatchPool
	registry.RegisterPostgresPools(s.pools)
	registry.RegisterRedisPools(map[string]redis.UniversalClient{"doorbell": s.redis, "queue": queueRedis})
	registry.RegisterBacklog(dispatchstore.NewBacklogReader(s.ops))
	registerQueues(registry, queue)

	sender := webhook.NewSender(webhook.Config{
		Timeout: cfg.WebhookTimeout, EndpointConcurrency: cfg.WebhookEndpointConcurrency,
		AllowInsecure: cfg.WebhookAllowInsecureTargets,
		BlockedPorts:  cfg.WebhookBlockedPorts, EventIDHeader: cfg.WebhookEventIDHeader, UserAgent: userAgent,
		NoSocket: s.sockets.RecordFailure,
	})
	counted := &queueModeRecorder{DispatchMetrics: registry.RegisterDispatch()}
	timetable, err := s.scheduler(registry, counted)
	if err != nil {
		return run.Process{}, err
	}
	ready := s.readiness(
		ops.ReadinessCheck{Name: checkQueue, Run: counted.check, Problem: always("is not used; deliveries go out directly"),
			Optional: true},
		// Another machine's dispatcher may have a working internet connection, so this process stays ready.
		ops.ReadinessCheck{Name: checkOutbound, Run: counted.checkOutbound,
			Problem: always("is broken, it seems: most endpoints get no connection"), Optional: true},
	)
	return run.Process{
		Name: "dispatcher", Log: s.log, Drain: ready.StartDraining,
		Parts: append(s.parts,
			run.NewCloserPart("sender", closing(sender.Close)),
			s.opsPart(on.Ops, s.opsHandler(ready, registry.Handler(traced(cfg)))),
			run.NewBackgroundPart("readiness", ready.RunChecks), run.NewBackgroundPart("kind of redis", s.awaitRedis),
			run.NewBackgroundPart("doorbell's listener", ear.Run),
			run.NewBackgroundPart("deliveries", onceReady(ready, s.deliver(dispatchPool, queue, sender, counted, ear))),
			run.NewBackgroundPart("schedules", onceReady(ready, timetable.Run)),
		),
	}, nil
}

// onceReady returns a function that waits until the database is reachable and has the right schema and keyset, and
// then runs work.
func onceReady(ready *ops.Readiness, work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if ready.AwaitChecks(ctx, checkPostgres, checkSchema, checkKeyset) != nil {
			return nil
		}
		return work(ctx)
	}
}

// doorbell sends wake-up notifications through Redis, unless no process listens.
type doorbell struct {
	*redisadapter.Doorbell
	*redisadapter.Listener
}

// NotifyJobs notifies other dispatchers that the queue has new jobs.
func (b doorbell) NotifyJobs() {
	if b.HasPeers() {
		b.Doorbell.NotifyJobs()
	}
}

// WakeFeedRequests wakes the HTTP requests that wait for new events of the partners.
func (b doorbell) WakeFeedRequests(partners []id.ID) {
	if b.HasFeedWaiters() {
		b.Doorbell.NotifyNewFeedEvents(partners)
	}
}

func (s *process) deliver(
	pool *pgxpool.Pool, queue *asynq.Queue, sender *webhook.Sender, counted *queueModeRecorder, ear *redisadapter.Listener,
) func(context.Context) error {
	store := dispatchstore.New(pool, s.Cipher)
	return func(ctx context.Context) error {
		deps := dispatch.Deps{
			Relay: store, Claims: store, Work: store, Endpoints: store, Queue: queue, Sender: sender, Clock: system.Clock{},
			Metrics: counted,
			Random:  rand.Float64, Log: s.log, Bell: ear.EventSignals(), DueBell: ear.DueDeliverySignals(),
			BellWorks: ear.ReceivesNotifications, Leads: ear.IsLeader,
			RingFeeds:      doorbell{s.bell, ear}.WakeFeedRequests,
			OutboundBroken: counted.outbound.Store, KeysetProven: s.proven.Load,
		}
		if traced(s.cfg) {
			deps = traceDeliveries(deps)
		}
		return dispatch.New(deps, dispatch.Config{
			Schedule: s.cfg.DeliverySchedule(), Timeout: s.cfg.WebhookTimeout, Concurrency: s.cfg.WebhookConcurrency,
			EndpointConcurrency: s.cfg.WebhookEndpointConcurrency,
		}).Run(ctx)
	}
}

// queueModeRecorder records for /readyz whether jobs bypass the queue in Redis, and whether this service's internet
// connection is broken.
type queueModeRecorder struct {
	webhookports.DispatchMetrics
	direct, outbound atomic.Bool
}

var (
	errDirect   = errors.New("the queue's store takes no jobs, or took none lately")
	errOutbound = errors.New("endpoints of several partners began to fail at once, by dns, connect or tls")
)

// SetQueueMode records and counts whether jobs go through the queue in Redis or directly to this process's workers.
func (q *queueModeRecorder) SetQueueMode(mode webhookports.QueueMode) {
	q.direct.Store(mode == webhookports.QueueModeDirect)
	q.DispatchMetrics.SetQueueMode(mode)
}

func (q *queueModeRecorder) check(context.Context) error {
	if q.direct.Load() {
		return errDirect
	}
	return nil
}

func (q *queueModeRecorder) checkOutbound(context.Context) error {
	if q.outbound.Load() {
		return errOutbound
	}
	return nil
}

func (s *process) scheduler(registry *metrics.Registry,
	ended webhookports.DispatchMetrics) (*schedules.Scheduler, error) {
	every := s.cfg.SchedulerInterval
	mailJobs, err := s.mailJobs(registry.RegisterMails(), every)
	if err != nil {
		return nil, err
	}
	parts := services.DefaultDeps(s.cfg, s.Stores, system.Clock{}, s.log)
	parts.WarnWithoutPayments()
	s.limits(&parts, func() {})
	parts.DepositMetrics, parts.PaymentMetrics = registry.RegisterDeposits(), registry.RegisterPayments()
	all := services.New(s.cfg, s.Stores, parts)
	store := s.Postgres
	endpoints := webhooks.EndpointNoticeMailer{
		Notices: store.Notices, Mails: store.Mails, Endpoints: dispatchstore.NewBacklogReader(s.ops),
		UnitOfWork: parts.UnitOfWork,
		Clock:      parts.Clock, Entropy: parts.Entropy, APIBaseURL: s.cfg.APIBaseURL,
	}
	operators := deposits.OperatorNoticeMailer{
		Notices: store.OperatorNotices, Mails: store.Mails, Addresses: store.Addresses, UnitOfWork: parts.UnitOfWork,
		Clock: parts.Clock, Entropy: parts.Entropy, DashboardURL: s.cfg.DashboardBaseURL, Imprint: s.cfg.Imprint(),
		VerifyAddresses: s.cfg.VerifiesEmailAddresses(),
	}
	tenants := payments.TenantNoticeMailer{
		Notices: store.TenantNotices, Mails: store.Mails, Deposits: store.Deposits, Operators: store.Operators,
		Collections: store.Collections, Refunds: store.Refunds, Payments: store.Payments, Agreements: store.Agreements,
		UnitOfWork: parts.UnitOfWork, Clock: parts.Clock, Entropy: parts.Entropy, Log: s.log,
		DashboardURL: s.cfg.DashboardBaseURL,
		SupportEmail: s.cfg.SupportEmail,
	}
	upkeep := payments.ProviderUpkeep{
		Callbacks: all.Callbacks, Erasures: store.Erasures, Eraser: parts.Eraser, Audit: store.Audit,
		Metrics:    registry.RegisterBooks(),
		UnitOfWork: parts.UnitOfWork, Clock: parts.Clock, Entropy: parts.Entropy,
	}
	if parts.Books != nil {
		upkeep.Books = all.Books
	}
	files := deposits.UnconfirmedFileRemover{
		Files: store.Files, Contents: store.Contents, UnitOfWork: parts.UnitOfWork, Clock: parts.Clock,
	}
	retention := webhooks.RetentionJobs{
		Tables: store.Retention, Replays: store.Replays, UnitOfWork: parts.UnitOfWork, Metrics: ended, Clock: parts.Clock,
		Log: s.log,
	}
	jobs := slices.Concat(
		all.Timers.ScheduledJobs(every), operators.ScheduledJobs(every), upkeep.ScheduledJobs(every),
		all.Operators.ScheduledJobs(every), retention.ScheduledJobs(), mailJobs,
		[]schedules.Job{
			all.Payments.PaymentChecksJob(every), tenants.ScheduledJob(every), endpoints.ScheduledJob(every),
			all.Webhooks.ReplayJob(), files.ScheduledJob(), all.Deposits.FormDraftCleaningJob(),
			all.Clients.ErasedAddressCleaningJob(), all.Idempotent.KeyCleaningJob(parts.Clock),
			mails.MailCleaningJob(store.Mails, parts.Clock),
		},
	)
	return schedules.New(s.log, registry.RegisterJobs(schedules.JobNames(jobs)), jobs...), nil
}

func registerQueues(registry *metrics.Registry, queue *asynq.Queue) {
	registry.RegisterQueues([]string{asynq.QueueName}, []string{"pending", "active", "archived"},
		func(string) (map[string]int, error) { return queue.Depth() })
}
