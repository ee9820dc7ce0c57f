package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// Errors of CheckWrites: Postgres answers queries, but refuses or delays every write.
var (
	ErrReadOnly         = errors.New("postgres: the server takes no changes: it is a standby, or set to read-only")
	ErrDiskFull         = errors.New("postgres: the server's disk is full")
	ErrLocked           = errors.New("postgres: another session holds a lock that every change needs")
	ErrPermissionDenied = errors.New("postgres: the role lacks rights")
	ErrNoStandby        = errors.New("postgres: commits wait for a synchronous standby, and none confirms them")
)

var WriteFailureCauses = []string{"lock", "read_only", "disk", "rights", "standby", "other"}

// WriteFailureCause returns the name of the cause of an error of CheckWrites; "" for nil.
func WriteFailureCause(err error) string {
	if err == nil {
		return ""
	}
	for i, cause := range []error{ErrLocked, ErrReadOnly, ErrDiskFull, ErrPermissionDenied, ErrNoStandby} {
		if errors.Is(err, cause) {
			return WriteFailureCauses[i]
		}
	}
	return "other"
}

// tryWrite is the SQL that tries all that a change of a deposit needs (rights, locks, disk space) and rolls it
// back; then it commits an empty message to the write-ahead log, which waits for a synchronous standby.
const tryWrite = `/* %s */ SELECT current_user || ' may not ' || string_agg(r || ' ' || t, ', ' ORDER BY t, r)
	FROM (VALUES ('deposits', '{SELECT,INSERT,UPDATE}'::text[]), ('deposit_transitions', '{SELECT,INSERT}'),
			('idempotency_keys', '{SELECT,INSERT,UPDATE,DELETE}'), ('outbox', '{SELECT,INSERT,DELETE}'),
			('events', '{SELECT,INSERT}'), ('deliveries', '{SELECT,INSERT,UPDATE,DELETE}'),
			('delivery_attempts', '{SELECT,INSERT}')) AS needed (t, all_r), unnest(all_r) AS r
	WHERE NOT has_table_privilege(t, r);
BEGIN;
SET LOCAL lock_timeout = '1s'; SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = '';
LOCK TABLE deposits, deposit_transitions, outbox, idempotency_keys IN ROW EXCLUSIVE MODE;
DELETE FROM outbox WHERE false;
WITH spilled AS MATERIALIZED (SELECT repeat('x', 1000) FROM generate_series(1, 100)) SELECT count(*) FROM spilled;
ROLLBACK;
SELECT pg_logical_emit_message(true, 'partnerdeposits', 'a write is tried')`

// commitPatience is the time after which CheckWrites queries why the try of a write has not ended.
const commitPatience = 1200 * time.Millisecond

// CheckWrites checks that Postgres accepts writes, waiting a second for a lock. Returns ErrReadOnly,
// ErrDiskFull, ErrLocked, ErrPermissionDenied, ErrNoStandby, or another error of the server.
func CheckWrites(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // Cancelling the context ends the wait of a commit for a standby that does not answer.
	ended, name := make(chan error, 1), "a try of "+rand.Text()
	go func() { ended <- try(ctx, pool, name) }()
	late := time.NewTimer(commitPatience)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
	}
	// The session that tries the write is found by its query's text, since a pooler hides the server's process.
	var waits bool
	err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE starts_with(query, $1) AND wait_event = 'SyncRep')`, "/* "+name).Scan(&waits)
	if err == nil && waits {
		return ErrNoStandby
	}
	return <-ended
}

func try(ctx context.Context, pool *pgxpool.Pool, name string) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return pg.Translate(err)
	}
	defer conn.Release()
	results, err := conn.Conn().PgConn().Exec(ctx, fmt.Sprintf(tryWrite, name)).ReadAll()
	if len(results) > 0 && len(results[0].Rows) > 0 && results[0].Rows[0][0] != nil {
		return fmt.Errorf("%w: %s", ErrPermissionDenied, results[0].Rows[0][0])
	}
	switch pg.SQLStateOf(err) {
	case pg.SQLStateReadOnlyTransaction:
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	case pg.SQLStateDiskFull:
		return fmt.Errorf("%w (%w)", ErrDiskFull, err)
	case pg.SQLStateLockTimeout:
		return fmt.Errorf("%w (%w)", ErrLocked, err)
	case pg.SQLStatePermissionDenied:
		return fmt.Errorf("%w (%w)", ErrPermissionDenied, err)
	}
	return pg.Translate(err)
}

// BlockingSession is a database session that blocks others by locks, or vacuum.
type BlockingSession struct {
	PID int
	// Name of the application that has the session, state of the session, and the beginning of its last statement.
	Application, State, Query string
	// How long the session's transaction has been open; 0 if unknown.
	Open time.Duration
	// Number of other database sessions that wait for the locks of this session.
	Waiting int
}

// BlockingSessions returns the sessions at the head of each lock queue with an older transaction than given.
// Postgres shows all of another role's session only to members of pg_read_all_stats.
func BlockingSessions(ctx context.Context, pool *pgxpool.Pool, olderThan time.Duration) ([]BlockingSession, error) {
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
	blockers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[BlockingSession])
	return blockers, pg.Translate(err)
}

// IdleTransactions returns the sessions whose open transaction has run no statement for a given time. Postgres
// shows other roles' sessions only to members of pg_read_all_stats.
func IdleTransactions(ctx context.Context, pool *pgxpool.Pool, longerThan time.Duration) ([]BlockingSession, error) {
	rows, err := pool.Query(ctx, `SELECT pid,
			concat_ws(' at ', coalesce(nullif(application_name, ''), usename), host(client_addr)), state,
			left(regexp_replace(query, '\s+', ' ', 'g'), 80), now() - xact_start, 0
		FROM pg_stat_activity
		WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND state_change <= now() - $1::interval
		ORDER BY 5 DESC`, longerThan)
	if err != nil {
		return nil, pg.Translate(err)
	}
	sessions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[BlockingSession])
	return sessions, pg.Translate(err)
}
