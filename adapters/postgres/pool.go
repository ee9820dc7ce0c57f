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

// PoolOptions are the settings of a pool of connections to Postgres. A zero field means the default that its
// comment states.
type PoolOptions struct {
	// The most connections of the pool; the default is 16. All pools together must stay below max_connections.
	MaxConns int32
	AppName  string // The application_name in pg_stat_activity; the default is "partnerdeposits".
	// The time limit of a statement, below the deadline of a request; the default is 8 s.
	StatementTimeout time.Duration
	LockTimeout      time.Duration // The longest wait of an SQL statement for a lock; the default is 2 s.
	// The time limit of an idle transaction, so that it does not block vacuum; the default is 30 s.
	IdleInTransaction time.Duration
	// A connection that was idle for longer than this time is tested before its use; the default is 1 s.
	PingAfter time.Duration
	Settings  map[string]string // Further settings of every connection of the pool, such as IndexPlanSettings.
	Tracer    pgx.QueryTracer   // The tracer that records the pool's queries; nil means none.
	// Whether the URL is that of PgBouncer in transaction mode. The database role must then have the
	// RequiredRoleSettings; other fields but MaxConns, PingAfter and Tracer have no effect.
	Pooled bool
}

// IndexPlanSettings are settings for pools that must never scan a whole table, though tables grow while a
// cached plan lives.
var IndexPlanSettings = map[string]string{
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	// Bitmap scans are off because they do not mark dead index entries, and so read their pages every time.
	"enable_bitmapscan":   "off",
	"join_collapse_limit": "1", // This setting makes joins run in the order in which they are written.
	"plan_cache_mode":     "force_generic_plan",
	"jit":                 "off",
}

// NewPool makes a pool of connections to Postgres without connecting. The error for a bad URL does not repeat
// it, since it may contain a password.
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
	config.AfterConnect = codec.RegisterTypes
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

func (o PoolOptions) parameters() map[string]string {
	params := map[string]string{
		"application_name":                    pg.OrDefault(o.AppName, "partnerdeposits"),
		"statement_timeout":                   pg.FormatMillis(pg.OrDefault(o.StatementTimeout, 8*time.Second)),
		"lock_timeout":                        pg.FormatMillis(pg.OrDefault(o.LockTimeout, 2*time.Second)),
		"idle_in_transaction_session_timeout": pg.FormatMillis(pg.OrDefault(o.IdleInTransaction, 30*time.Second)),
		"TimeZone":                            "UTC",
	}
	maps.Copy(params, o.Settings)
	return params
}
