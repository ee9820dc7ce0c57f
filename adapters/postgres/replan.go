package postgres

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	growthEvery   = time.Second     // The time between two queries of the tables' sizes.
	growthTimeout = 2 * time.Second // The time limit of a query of the tables' sizes.
	// A pool that is hardly used queries the tables' sizes once in the time calmGrowth. At most fewUses statements
	// run with an outdated plan until then.
	fewUses       = 50
	calmGrowth    = time.Minute
	generationKey = "partnerdeposits.plans"
)

// growthQuery is the SQL that reads the number of rows of each table, as Postgres counts them for its
// autovacuum.
const growthQuery = `SELECT relname::text, pg_stat_get_live_tuples(oid) FROM pg_class
	WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
	AND relname IN ('account_links', 'api_keys', 'client_names', 'clients',
		'deliveries', 'deposits', 'deposit_timers', 'idempotency_keys', 'partners', 'payments', 'sessions',
		'webhook_subscriptions')`

// replanner discards a pool's cached plans when a table has grown: a plan made for an empty table may read it
// whole.
type replanner struct {
	mu     sync.Mutex
	looked time.Time
	// Number of connections taken from the pool since the tables' sizes were last read.
	uses int
	// The last size class (see sizeClass) of each table, by name.
	sizes      map[string]int
	generation int
}

func newReplanner() *replanner { return &replanner{sizes: map[string]int{}} }

// prepare discards outdated plans of a connection taken from the pool, and reports whether it is usable.
func (r *replanner) prepare(ctx context.Context, conn *pgx.Conn) (bool, error) {
	now := time.Now()
	r.mu.Lock()
	r.uses++
	age := now.Sub(r.looked)
	look := age > calmGrowth || age > growthEvery && r.uses >= fewUses
	if look {
		r.looked, r.uses = now, 0
	}
	generation := r.generation
	r.mu.Unlock()
	if look {
		generation = r.look(ctx, conn)
	}
	custom := conn.PgConn().CustomData()
	made, known := custom[generationKey].(int)
	custom[generationKey] = generation
	if known && made != generation {
		_, err := conn.Exec(ctx, "DISCARD PLANS")
		return err == nil, nil // If discarding the plans fails, the connection is broken, and the pool replaces it.
	}
	return !conn.IsClosed(), nil
}

// look returns the generation of plans, which rises when a table has grown much.
func (r *replanner) look(ctx context.Context, conn *pgx.Conn) int {
	ctx, cancel := context.WithTimeout(ctx, growthTimeout)
	defer cancel()
	rows, err := conn.Query(ctx, growthQuery, pgx.QueryExecModeSimpleProtocol)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		return r.generation
	}
	var table string
	var live int64
	grown := false
	// The error is ignored: while the sizes of tables cannot be read, the cached plans stay in use.
	_, _ = pgx.ForEachRow(rows, []any{&table, &live}, func() error {
		class := sizeClass(live)
		grown = grown || class > r.sizes[table]
		r.sizes[table] = class
		return nil
	})
	if grown {
		r.generation++
	}
	return r.generation
}

// sizeClass returns the size class of a table: 0 if empty, and 1 more each time it grows eightfold, up to a
// million rows.
func sizeClass(live int64) int {
	const bitsPerClass, most = 3, 1 << 20
	return (bits.Len64(uint64(max(0, min(live, most)))) +
		bitsPerClass - 1) / bitsPerClass //nolint:gosec // bounded on the line
}
