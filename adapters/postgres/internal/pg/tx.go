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
	tries      = 5 // The most runs of a transaction that meets serialization failures or deadlocks.
	firstPause = 5 * time.Millisecond
	// The time limit of COMMIT and ROLLBACK, which run even after the caller's context has ended.
	finishWithin = 5 * time.Second
)

// Tx is a transaction that saves round trips. BEGIN is sent with the first statement. Statements whose result the
// caller does not need at once (Queue) are sent with the next statement that returns a result, or with COMMIT.
// Statements run in the order of Queue, so a read sees every earlier write. The errors of queued statements are
// returned by Flush, and at the latest by Commit.
type Tx struct {
	// Appended reports whether the transaction wrote events to the outbox (the table of new events): true if it wrote
	// any, otherwise false.
	Appended bool

	conn  *pgxpool.Conn
	queue *pgx.Batch
	ended bool
}

// Begin opens a transaction at isolation level read committed. The caller must call End.
func Begin(conn *pgxpool.Conn) *Tx {
	t := &Tx{conn: conn, queue: &pgx.Batch{}}
	t.queue.Queue("begin isolation level read committed")
	return t
}

// Queue adds an SQL statement to those that Flush or the next statement with a result will send. A callback on the
// statement's result runs when it is sent.
func (t *Tx) Queue(sql string, args ...any) *pgx.QueuedQuery { return t.queue.Queue(sql, args...) }

// Flush sends the queued statements of the transaction in a single round trip and reads all results.
func (t *Tx) Flush(ctx context.Context) error {
	if t.queue.Len() == 0 {
		return nil
	}
	queue := t.queue
	t.queue = &pgx.Batch{}
	return Translate(t.conn.SendBatch(ctx, queue).Close())
}

// Exec runs an SQL statement of the transaction now instead of queueing it, for callers that need the number of
// changed rows.
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	var tag pgconn.CommandTag
	t.queue.Queue(sql, args...).Exec(func(ct pgconn.CommandTag) error {
		tag = ct
		return nil
	})
	err := t.Flush(ctx)
	return tag, err
}

// Query runs a query of the transaction now. The rows belong to the transaction's connection and must be closed
// before the next statement.
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

// QueryRow returns a row of the transaction whose query is sent when Scan is called.
func (t *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return lazyRow{t: t, ctx: ctx, sql: sql, args: args}
}

// lazyRow is a row whose query is sent when Scan is called, so that it shares a round trip with the queued
// statements before it.
type lazyRow struct {
	t    *Tx
	ctx  context.Context
	sql  string
	args []any
}

func (r lazyRow) Scan(dest ...any) error {
	found := r.t.QueueRow(r.sql, r.args, dest...)
	if err := r.t.Flush(r.ctx); err != nil {
		return err
	}
	return Translate(*found)
}

// QueueRow queues a query for a single row. It returns a pointer to an error, which is set when the queued statements
// are sent. pgx.ErrNoRows does not fail the other queued statements.
func (t *Tx) QueueRow(sql string, args []any, dest ...any) *error {
	found := new(error)
	t.queue.Queue(sql, args...).QueryRow(func(row pgx.Row) error {
		*found = row.Scan(dest...)
		var refused *pgconn.PgError
		if errors.As(*found, &refused) || IsUnreachable(*found) {
			return *found
		}
		return nil
	})
	return found
}

// QueueRows queues a query. When the queued statements are sent, each is called for every row of the result.
func (t *Tx) QueueRows(sql string, args []any, each func(pgx.Rows) error) {
	t.queue.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// QueueRowsInto queues a query. When the queued statements are sent, its scanned rows are stored in dst.
func QueueRowsInto[T any](t *Tx, dst *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	t.queue.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*dst, err = pgx.CollectRows(rows, scan)
		return err
	})
}

// QueueingTx returns the transaction in a form that generated code can use: each of its statements is queued, to be
// sent with later ones.
func (t *Tx) QueueingTx() QueueingTx { return QueueingTx{t} }

// QueueingTx is a transaction whose Exec queues statements instead of running them.
type QueueingTx struct{ *Tx }

// Exec queues an SQL statement, whose error is returned when the queued statements are sent.
func (d QueueingTx) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	d.queue.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// Commit sends the queued statements and COMMIT in a single round trip. A commit that has begun continues after the
// end of the caller's context.
//
// Returns service_unavailable when the connection breaks; the server may then have committed or not.
func (t *Tx) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.ErrUnavailable.WithCause(err)
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

// untouched reports whether the transaction has sent nothing and has only BEGIN queued; otherwise false.
func (t *Tx) untouched() bool {
	return t.queue.Len() == 1 && t.conn.Conn().PgConn().TxStatus() == 'I'
}

// RollbackIfOpen rolls back the transaction if it was not committed, and releases its connection. If the rollback
// fails, the connection is closed.
func (t *Tx) RollbackIfOpen(ctx context.Context) {
	t.ended = true
	defer t.conn.Release()
	server := t.conn.Conn().PgConn()
	if server.IsClosed() || server.TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	_, _ = t.conn.Exec(ctx, "rollback")
}

// RetryTx runs a transaction, and runs it again after a serialization failure, a deadlock, an outdated cached plan or
// a row for a partition that was just made, with growing pauses and jitter. After the last try it returns
// service_unavailable.
func RetryTx(ctx context.Context, attempt func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := attempt()
		if err == nil || !retryable(err) {
			return err
		}
		if try == tries {
			return fault.ErrUnavailable.WithCause(err)
		}
		timer := time.NewTimer(rand.N(pause) + pause/2)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fault.ErrUnavailable.WithCause(err)
		case <-timer.C:
		}
		pause *= 2
	}
}

// RunInTx runs fn in a transaction of pool, and runs it again as Retry does. fn must commit; without a commit the
// transaction is rolled back.
func RunInTx(ctx context.Context, pool *pgxpool.Pool, fn func(*Tx) error) error {
	return RetryTx(ctx, func() error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return Translate(err)
		}
		t := Begin(conn)
		defer t.RollbackIfOpen(ctx)
		return Translate(fn(t))
	})
}
