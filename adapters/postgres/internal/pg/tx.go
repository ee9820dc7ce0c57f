package pg

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/core/fault"
)

const (
	tries        = 5 // of a transaction that met a serialization failure or a deadlock
	firstPause   = 5 * time.Millisecond
	finishWithin = 5 * time.Second // commit and rollback, even after the caller's context ended
)

// Tx is a transaction that saves round trips: BEGIN goes out with the first statement, and statements without an answer
// (see Queue) wait for the next statement with an answer, or for COMMIT. Statements run in the order they were queued, so
// a read sees every write before it. The error of a queued statement surfaces at the next Flush, at the latest from Commit.
type Tx struct {
	// Appended reports whether the transaction wrote to the outbox.
	Appended bool

	conn  *pgxpool.Conn
	queue *pgx.Batch
}

// Begin opens a transaction at isolation level read committed. The caller must call End.
func Begin(conn *pgxpool.Conn) *Tx {
	t := &Tx{conn: conn, queue: &pgx.Batch{}}
	t.queue.Queue("begin isolation level read committed")
	return t
}

// Queue adds a statement to the next batch. A callback on the result runs during Flush.
func (t *Tx) Queue(sql string, args ...any) *pgx.QueuedQuery { return t.queue.Queue(sql, args...) }

// Flush sends the queued statements in one round trip and reads all answers.
func (t *Tx) Flush(ctx context.Context) error {
	if t.queue.Len() == 0 {
		return nil
	}
	queue := t.queue
	t.queue = &pgx.Batch{}
	return Translate(t.conn.SendBatch(ctx, queue).Close())
}

// Exec runs a statement now, for callers that need the number of rows.
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	var tag pgconn.CommandTag
	t.queue.Queue(sql, args...).Exec(func(ct pgconn.CommandTag) error {
		tag = ct
		return nil
	})
	err := t.Flush(ctx)
	return tag, err
}

// Query runs a query now. The rows belong to the transaction's connection and must be closed before the next statement.
func (t *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.Flush(ctx); err != nil {
		return nil, err
	}
	rows, err := t.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, Translate(err)
	}
	return &ownedRows{Rows: rows}, nil
}

// QueryRow runs a query for one row when the row is scanned.
func (t *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return lazyRow{t: t, ctx: ctx, sql: sql, args: args}
}

// lazyRow runs its query at Scan, so that the query travels with the queued statements before it.
type lazyRow struct {
	t    *Tx
	ctx  context.Context // the row lives for one call of QueryRow(…).Scan(…)
	sql  string
	args []any
}

func (r lazyRow) Scan(dest ...any) error {
	found := r.t.Row(r.sql, r.args, dest...)
	if err := r.t.Flush(r.ctx); err != nil {
		return err
	}
	return Translate(*found)
}

// Row queues a query for one row. The result's error is set by Flush: pgx.ErrNoRows is an answer, not an error of the batch.
func (t *Tx) Row(sql string, args []any, dest ...any) *error {
	found := new(error)
	t.queue.Queue(sql, args...).QueryRow(func(row pgx.Row) error {
		*found = row.Scan(dest...)
		var refused *pgconn.PgError
		if errors.As(*found, &refused) || Unreachable(*found) {
			return *found
		}
		return nil
	})
	return found
}

// Rows queues a query. Flush calls each for every row of the answer.
func (t *Tx) Rows(sql string, args []any, each func(pgx.Rows) error) {
	t.queue.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Collect queues a query. Flush stores the scanned rows in dst.
func Collect[T any](t *Tx, dst *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	t.queue.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*dst, err = pgx.CollectRows(rows, scan)
		return err
	})
}

// Deferred is the transaction for generated statements whose answer nobody waits for: Exec only queues.
func (t *Tx) Deferred() Deferred { return Deferred{t} }

// Deferred queues what is executed on it.
type Deferred struct{ *Tx }

// Exec queues the statement; its error surfaces at the next Flush.
func (d Deferred) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	d.queue.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// Commit sends the queued statements and COMMIT in one round trip. The commit does not end with the caller's context: a
// commit that has begun is seen through. When the connection breaks, nobody knows whether the commit took place, and
// the caller gets service_unavailable.
func (t *Tx) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.ErrUnavailable.Because(err)
	}
	if t.untouched() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	t.queue.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return ErrRolledBack
		}
		return nil
	})
	return t.Flush(ctx)
}

// untouched reports whether only BEGIN is queued and nothing was sent.
func (t *Tx) untouched() bool {
	return t.queue.Len() == 1 && t.conn.Conn().PgConn().TxStatus() == 'I'
}

// End rolls back an uncommitted transaction and releases the connection. Release closes a connection that fails here.
func (t *Tx) End(ctx context.Context) {
	defer t.conn.Release()
	server := t.conn.Conn().PgConn()
	if server.IsClosed() || server.TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	_, _ = t.conn.Exec(ctx, "rollback")
}

// Retry runs attempt again, with jitter, while attempt meets a serialization failure or a deadlock.
func Retry(ctx context.Context, attempt func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := attempt()
		if err == nil || !retryable(err) {
			return err
		}
		if try == tries {
			return fault.ErrUnavailable.Because(err)
		}
		timer := time.NewTimer(rand.N(pause) + pause/2)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fault.ErrUnavailable.Because(err)
		case <-timer.C:
		}
		pause *= 2
	}
}

// InTx runs fn in a transaction of pool, with Retry. fn commits; without a commit the transaction is rolled back.
func InTx(ctx context.Context, pool *pgxpool.Pool, fn func(*Tx) error) error {
	return Retry(ctx, func() error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return Translate(err)
		}
		t := Begin(conn)
		defer t.End(ctx)
		return Translate(fn(t))
	})
}
