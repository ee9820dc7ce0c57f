// Package wire is the composition root, with a function that builds each process. Only this package imports all
// adapters.
package wire

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/http/ops"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/adapters/postgres/migrations"
	platformtables "partnerdeposits/adapters/postgres/platform"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/core/fault"
	"partnerdeposits/ports/platform/sockets"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/services"
)

const (
	checkPostgres = "postgres"
	checkSchema   = "schema"
	checkKeyset   = "keyset"
	checkWrites   = "writes"
	checkClock    = "clock"
	checkRedis    = "redis"
	checkLog      = "log"
	checkSockets  = "sockets"
	checkQueue    = "queue"
	checkOutbound = "outbound"
)

// The sizes of the pools of connections. An http and a dispatcher take 45 of Postgres's usual 100.
const (
	apiConns      = 18
	scheduleConns = 5
	dispatchConns = 12
	opsConns      = 2
)

// process holds what a process keeps open. Its parts are in the order of opening.
type process struct {
	services.Stores
	cfg   config.Config
	log   *slog.Logger
	lines *run.LogWriter
	// The pool for health checks and metrics, which must answer even if the other pools have no free connection.
	ops   *pgxpool.Pool
	epoch *platformtables.RestoreEpoch
	clock clock
	parts []run.Part
	pools map[string]*pgxpool.Pool // The connection pools, by the label of their metrics.

	// The watch for failures to open sockets, of listeners and of the sender of deliveries.
	sockets sockets.FailureMonitor
	// Whether the database has check values and the keyset fits them.
	proven atomic.Bool
	// The result of the last trial write to Postgres, as postgres.WriteFailureCause returns it; nil before the first.
	tried atomic.Value

	registry *metrics.Registry

	redis redis.UniversalClient
	// Whether the Redis client is known to fit the kind of server, cluster or single, since one has answered.
	redisKnown bool
	breaker    *redisadapter.Breaker
	bell       *redisadapter.Doorbell
}

// open creates the stores of a process without connecting; readiness reports unreachable ones. grouped reports
// whether many callers change and read deposits at the same time.
func open(ctx context.Context, cfg config.Config, log run.Log, name string, conns int32,
	grouped bool) (*process, error) {
	s := &process{cfg: cfg, log: log.Logger, lines: log.Lines, registry: newRegistry(log)}
	redisadapter.SetDriverLogger(s.log)
	var err error
	if s.Cipher, err = services.NewSecretsCipher(cfg, s.log); err != nil {
		return nil, err
	}
	if traced(cfg) {
		traces, err := tracing(ctx, cfg, s.log, name)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, traces)
	}
	if s.Pool, err = s.newPool(ctx, name,
		postgres.PoolOptions{MaxConns: conns, PingAfter: pingAfter(grouped)}); err != nil {
		return nil, err
	}
	const patience = 3 * time.Second
	if s.ops, err = s.newPool(ctx, name+"-ops",
		postgres.PoolOptions{MaxConns: opsConns, StatementTimeout: patience, Settings: postgres.IndexPlanSettings,
			PingAfter: loopPing}); err != nil {
		return nil, err
	}
	s.pools = map[string]*pgxpool.Pool{name: s.Pool, "ops": s.ops}
	s.epoch = platformtables.NewRestoreEpoch(s.ops, s.log)
	// Without pools of their own (nil), grouped changes and reads use the common pool.
	var groups, reads *pgxpool.Pool
	if grouped {
		if groups, err = s.newPool(ctx, name+"-groups",
			postgres.PoolOptions{MaxConns: groupcommit.MaxConns, Settings: postgres.IndexPlanSettings}); err != nil {
			return nil, err
		}
		if reads, err = s.newPool(ctx, name+"-reads",
			postgres.PoolOptions{MaxConns: postgres.MaxReadBatchConns, Settings: postgres.IndexPlanSettings}); err != nil {
			return nil, err
		}
		s.pools["groups"], s.pools["reads"] = groups, reads
	}
	if err := s.openRedis(ctx); err != nil {
		return nil, err
	}
	s.breaker = redisadapter.NewBreaker(s.redis)
	s.bell = redisadapter.NewDoorbell(s.redis, s.breaker)
	odd := &oddRows{log: s.log, count: s.registry.RegisterUnreadableRows()}
	s.Postgres = postgres.NewStore(s.Pool, s.Cipher,
		postgres.Options{Doorbell: s.bell, Reads: reads, Unreadable: odd.met})
	s.Changes = groupcommit.New(s.Pool, s.Cipher, groupcommit.Options{Groups: groups, Doorbell: s.bell})
	s.parts = append(s.parts, run.NewCloserPart("redis", s.redis.Close),
		run.NewCloserPart("redis breaker", closing(s.breaker.Close)),
		run.NewCloserPart("doorbell", closing(s.bell.Close)),
		run.Part{Name: "store", Stop: func(ctx context.Context) error { s.Postgres.Close(ctx); return nil }},
	)
	return s, nil
}

// loopPing is the idle time after which a background loop tests its connection before a query. A test before each
// would double the load of an idle service; a loop repeats a query that fails.
const loopPing = 10 * time.Second

// pingAfter returns the idle time after which a connection is tested: one for a process with many callers, another
// for background loops alone.
func pingAfter(manyCallers bool) time.Duration {
	if manyCallers {
		return 0
	}
	return loopPing
}

func (s *process) openRedis(ctx context.Context) (err error) {
	s.redis, s.redisKnown, err = redisadapter.Open(ctx, s.cfg.RedisURL.Reveal(),
		redisadapter.WithSentinelPassword(s.cfg.RedisSentinelPassword.Reveal()))
	if err != nil {
		return err
	}
	return traceRedis(s.cfg, s.redis)
}

// awaitRedis stops the process if a Redis that was unreachable at the start turns out to be a cluster, for which it
// has the wrong client.
func (s *process) awaitRedis(ctx context.Context) error {
	if s.redisKnown {
		<-ctx.Done()
		return nil
	}
	return redisadapter.AwaitTopology(ctx, s.redis)
}

// limits adds what needs Redis: the rate limiter and the cache of stored responses. failedOpen is called for each
// request allowed because Redis did not answer.
func (s *process) limits(p *services.Deps, failedOpen func()) {
	p.Limiter = redisadapter.NewLimiter(s.redis, s.breaker, failedOpen)
	p.Cache = redisadapter.NewIdempotencyCache(s.redis, s.breaker, s.Cipher, s.log)
}

// newPool opens a pool of connections, closed after all parts that were added later.
func (s *process) newPool(ctx context.Context, name string, o postgres.PoolOptions) (*pgxpool.Pool, error) {
	o.AppName = "partnerdeposits-" + name
	o.Tracer = queryTracer(s.cfg)
	o.Pooled = s.cfg.DatabasePooled
	pool, err := postgres.NewPool(ctx, s.cfg.DatabaseURL.Reveal(), o)
	if err != nil {
		return nil, err
	}
	s.parts = append(s.parts, run.NewCloserPart("postgres "+name, closing(pool.Close)))
	return pool, nil
}

func closing(fn func()) func() error {
	return func() error { fn(); return nil }
}

// readiness returns the checks of /readyz, with those in more, and registers their metrics. Until the keyset was
// compared with the database, no secret is written or read.
func (s *process) readiness(more ...ops.ReadinessCheck) *ops.Readiness {
	s.Cipher.SetRefusalError(fault.ErrUnavailable.WithCause(errNotCompared))
	checks := []ops.ReadinessCheck{
		{Name: checkPostgres, Run: s.connected, Problem: connectionProblem},
		{Name: checkSchema, Run: s.schemaFits, Problem: schemaProblem, Holds: schemaHolds},
		{Name: checkKeyset, Run: s.keysetFits, Problem: keysetProblem, Holds: keysetHolds},
		// Writes are optional, since requests that only read continue to work.
		{Name: checkWrites, Run: s.takesWrites, Problem: writeProblem, Every: writeEvery, Optional: true},
		{Name: checkRedis, Run: func(ctx context.Context) error { return redisadapter.CheckWrites(ctx, s.redis) },
			Problem: redisProblem, Optional: true},
		{Name: checkLog, Run: func(context.Context) error { return s.lines.Check() },
			Problem: always("loses lines: its reader does not take them"), Advisory: true},
		{Name: checkSockets, Run: s.sockets.Check, Problem: sockets.DescribeFailure, Optional: true},
		{Name: checkClock, Run: s.clock.check, Problem: clockProblem, Advisory: true},
	}
	ready := ops.NewReadiness(s.log, append(checks, more...)...)
	s.registry.RegisterReadiness(ready.CheckResults)
	s.registry.RegisterFailingWrites(postgres.WriteFailureCauses, s.writesFailing)
	s.registry.RegisterClockSkew(s.clock.skew)
	return ready
}

func redisProblem(err error) string {
	if errors.Is(err, redisadapter.ErrNoWrites) {
		return "takes no writes"
	}
	return "cannot be reached"
}

// connected checks that Postgres answers, and records the difference of clocks.
func (s *process) connected(ctx context.Context) error {
	ahead, err := postgres.CheckConnection(ctx, s.ops)
	s.clock.note(ahead, err == nil)
	return err
}

// NoConnectionText describes a Postgres all of whose connections are taken.
const NoConnectionText = "has no connection free"

func connectionProblem(err error) string {
	if errors.Is(err, postgres.ErrUndeclaredPooler) {
		return "drops the settings of connections; set DATABASE_POOLED=true behind PgBouncer"
	}
	if errors.Is(err, postgres.ErrNoFreeConnection) {
		return NoConnectionText
	}
	return "cannot be reached"
}

// writeEvery is the least time between two trial writes, which cost more than other checks.
const writeEvery = 4 * time.Second

func (s *process) takesWrites(ctx context.Context) error {
	err := postgres.CheckWrites(ctx, s.ops)
	s.tried.Store(postgres.WriteFailureCause(err))
	return err
}

// writesFailing returns why the last trial write failed; "" if it succeeded.
func (s *process) writesFailing() string {
	cause, _ := s.tried.Load().(string)
	return cause
}

func writeProblem(err error) string {
	switch {
	case errors.Is(err, postgres.ErrReadOnly):
		return "are refused: Postgres is read-only"
	case errors.Is(err, postgres.ErrDiskFull):
		return "fail: the disk of Postgres is full"
	case errors.Is(err, postgres.ErrLocked):
		return "wait: a session holds a lock"
	case errors.Is(err, postgres.ErrPermissionDenied):
		return "are refused: the role lacks rights"
	case errors.Is(err, postgres.ErrNoStandby):
		return "wait: no standby confirms (synchronous_standby_names)"
	}
	return "fail"
}

func always(problem string) func(error) string {
	return func(error) string { return problem }
}

// outdatedSchemaError is the error for a schema that is older than this binary.
type outdatedSchemaError struct{}

func (outdatedSchemaError) Error() string { return "the schema is older than this binary" }

// schemaHolds is how long a successful check of the schema holds, since only a restore makes it older.
const schemaHolds = time.Minute

// schemaFits checks that the schema is not older than this binary. A newer one is accepted, since migrations only
// add while an older binary may run.
func (s *process) schemaFits(ctx context.Context) error {
	version, err := migrations.AppliedVersion(ctx, s.ops)
	if err == nil && version < migrations.NewestVersion() {
		return outdatedSchemaError{}
	}
	return err
}

func schemaProblem(err error) string {
	if err == (outdatedSchemaError{}) { //nolint:errorlint // returned by schemaFits, never wrapped
		return "is not up to date; run `admin migrate up`"
	}
	if errors.Is(err, migrations.ErrPermissionDenied) {
		return "cannot be read: the role lacks rights"
	}
	return "cannot be read"
}
