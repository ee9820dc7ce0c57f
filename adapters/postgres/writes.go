package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// Errors of CheckWrites: Postgres answers queries, and refuses or holds up every write.
var (
	ErrReadOnly = errors.New("postgres: the server takes no changes: it is a standby, or set to read-only")
	ErrNoRoom   = errors.New("postgres: the server's disk is full")
	ErrLocked   = errors.New("postgres: another session holds a lock that every change needs")
)

// tryWrite goes through what every write of a deposit needs, and rolls back: the locks of its tables, a transaction
// that is not read-only, and disk space. It needs a temporary file to see a full disk, since a new row may fit into an
// old page. All statements are one message, so a client that stops half-way leaves no open transaction.
const tryWrite = `BEGIN;
SET LOCAL lock_timeout = '1s'; SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = '';
LOCK TABLE deposits, deposit_transitions, outbox, idempotency_keys IN ROW EXCLUSIVE MODE;
DELETE FROM outbox WHERE false;
WITH spilled AS MATERIALIZED (SELECT repeat('x', 1000) FROM generate_series(1, 100)) SELECT count(*) FROM spilled;
ROLLBACK`

// CheckWrites tries a change that is rolled back. It waits a second for a lock.
//
// Returns ErrReadOnly, ErrNoRoom, ErrLocked, or another error of the server.
func CheckWrites(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, tryWrite, pgx.QueryExecModeSimpleProtocol)
	switch pg.StateOf(err) {
	case pg.ReadOnlyTransaction:
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	case pg.DiskFull:
		return fmt.Errorf("%w (%w)", ErrNoRoom, err)
	case pg.LockTimeout:
		return fmt.Errorf("%w (%w)", ErrLocked, err)
	}
	return pg.Translate(err)
}

// Blocker is a session that holds locks for which others wait.
type Blocker struct {
	PID                       int
	Application, State, Query string        // Query: the beginning of its last statement
	Open                      time.Duration // 0: unknown
	Waiting                   int           // sessions
}

// Blockers lists the sessions at the head of each lock queue whose transaction is older than a time; younger ones end
// by themselves. Only a member of pg_read_all_stats learns more than PID and Application of another role's session.
func Blockers(ctx context.Context, pool *pgxpool.Pool, olderThan time.Duration) ([]Blocker, error) {
	rows, err := pool.Query(ctx, `SELECT b.pid, b.application_name, coalesce(b.state, ''),
			left(regexp_replace(b.query, '\s+', ' ', 'g'), 80), coalesce(now() - b.xact_start, '0'), count(DISTINCT w.pid)
		FROM pg_stat_activity w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS holder(pid)
		JOIN pg_stat_activity b ON b.pid = holder.pid
		WHERE w.datname = current_database() AND w.wait_event_type = 'Lock' AND b.wait_event_type IS DISTINCT FROM 'Lock'
			AND (b.xact_start IS NULL OR b.xact_start <= now() - $1::interval)
		GROUP BY 1, 2, 3, 4, 5 ORDER BY 5 DESC`, olderThan)
	if err != nil {
		return nil, pg.Translate(err)
	}
	blockers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Blocker])
	return blockers, pg.Translate(err)
}
