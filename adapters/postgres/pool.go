package postgres

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/codec"
	"partnerdeposits/adapters/postgres/internal/pg"
)

// PoolOptions shape a pool; zero fields take the defaults named beside them.
type PoolOptions struct {
	MaxConns int32  // 16; the pools of all processes together stay below max_connections
	AppName  string // "partnerdeposits"; seen in pg_stat_activity
	// 8 s: below the deadline of a request, so that the server cancels the statement and the connection stays usable
	StatementTimeout  time.Duration
	LockTimeout       time.Duration     // 2 s
	IdleInTransaction time.Duration     // 30 s: a forgotten transaction must not block vacuum
	PingAfter         time.Duration     // 1 s: a connection that was idle for longer proves that it works before its use
	Settings          map[string]string // further settings of every connection, such as IndexPlans
	Tracer            pgx.QueryTracer   // nil: none
	// the URL leads to PgBouncer in transaction mode: the role has the settings (RoleSettings), and the other fields but
	// MaxConns, PingAfter and Tracer do nothing
	Pooled bool
}

// IndexPlans are connection settings for pools that run the dispatcher's statements, the backlog counts and group
// commits. The tables grow from empty to a million rows while a cached plan lives, so the planner must never choose to
// scan a whole table.
var IndexPlans = map[string]string{
	"enable_seqscan":      "off",
	"enable_hashjoin":     "off",
	"enable_mergejoin":    "off",
	"enable_bitmapscan":   "off", // a bitmap scan does not mark dead index entries, and reads their pages every time
	"join_collapse_limit": "1",   // joins run in the order they are written
	"plan_cache_mode":     "force_generic_plan",
	"jit":                 "off",
}

// NewPool makes a pool whose connections know the types of package codec. NewPool does not connect: the first query
// meets a database that is away, and every later query connects again.
//
// Returns an error for a URL that does not parse. The error does not repeat the URL, which may contain a password.
func NewPool(ctx context.Context, databaseURL string, o PoolOptions) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, errors.New("postgres: DATABASE_URL does not parse as a Postgres URL")
	}
	config.MaxConns = pg.OrDefault(o.MaxConns, 16)
	config.MaxConnLifetime = time.Hour
	config.MaxConnLifetimeJitter = 10 * time.Minute
	config.MaxConnIdleTime = 5 * time.Minute
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	config.ConnConfig.Tracer = o.Tracer
	config.AfterConnect = codec.Register
	pingAfter := pg.OrDefault(o.PingAfter, time.Second)
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > pingAfter }
	if o.Pooled {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	} else {
		config.PrepareConn = newReplanner().prepare
		maps.Copy(config.ConnConfig.RuntimeParams, o.parameters())
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// parameters are the start-up parameters of a connection.
func (o PoolOptions) parameters() map[string]string {
	params := map[string]string{
		"application_name":                    pg.OrDefault(o.AppName, "partnerdeposits"),
		"statement_timeout":                   pg.Millis(pg.OrDefault(o.StatementTimeout, 8*time.Second)),
		"lock_timeout":                        pg.Millis(pg.OrDefault(o.LockTimeout, 2*time.Second)),
		"idle_in_transaction_session_timeout": pg.Millis(pg.OrDefault(o.IdleInTransaction, 30*time.Second)),
		"TimeZone":                            "UTC",
	}
	maps.Copy(params, o.Settings)
	return params
}
