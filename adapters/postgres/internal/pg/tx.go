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

// Tx is a transaction that saves round trips: BEGIN and queued statements (Queue) are sent with the next
// statement that returns a result, or with COMMIT. Their errors are returned by Flush, at the latest by Commit.
type Tx struct {
	// Appended reports whether the transaction wrote events to the outbox.
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

// Queue adds a statement to those sent by Flush or the next statement with a result.
func (t *Tx) Queue(sql string, args ...any) *pgx.QueuedQuery { return t.queue.Queue(sql, args...) }

// Flush sends the queued statements in a single round trip and reads all results.
func (t *Tx) Flush(ctx context.Context) error {
	if t.queue.Len() == 0 {
		return nil
	}
	queue := t.queue
	t.queue = &pgx.Batch{}
	return Translate(t.conn.SendBatch(ctx, queue).Close())
}

// Exec runs a statement now, for callers that need the number of changed rows.
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	var tag pgconn.CommandTag
	t.queue.Queue(sql, args...).Exec(func(ct pgconn.CommandTag) error {
		tag = ct
		return nil
	})
	err := t.Flush(ctx)
	return tag, err
}

// Query runs a query now. Its rows must be closed before the next statement.
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

func (t *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return lazyRow{t: t, ctx: ctx, sql: sql, args: args}
}

// lazyRow is a row whose query is sent by Scan, together with the queued statements before it.
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

// QueueRow queues a query for a single row. The returned error is set when the statements are sent;
// pgx.ErrNoRows does not fail the others.
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

// QueueRows queues a query. When it is sent, each is called for every row.
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

// QueueRowsInto queues a query. When it is sent, its scanned rows are stored in dst.
func QueueRowsInto[T any](t *Tx, dst *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	t.queue.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*dst, err = pgx.CollectRows(rows, scan)
		return err
	})
}

func (t *Tx) QueueingTx() QueueingTx { return QueueingTx{t} }

// QueueingTx is a transaction whose Exec queues statements instead of running them.
type QueueingTx struct{ *Tx }

func (d QueueingTx) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	d.queue.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// Commit sends the queued statements and COMMIT; once begun, it outlives the caller's context. Commit returns
// fault.ErrUnavailable if the connection breaks, although Postgres may have committed by then.
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

// untouched reports whether the transaction has sent nothing and queued only BEGIN.
func (t *Tx) untouched() bool {
	return t.queue.Len() == 1 && t.conn.Conn().PgConn().TxStatus() == 'I'
}

// RollbackIfOpen rolls back an uncommitted transaction and releases its connection.
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

// RetryTx runs a transaction again after a serialization failure, deadlock or outdated plan, with growing
// pauses. After the last try it returns service_unavailable.
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

// RunInTx runs fn in a transaction of pool, again as RetryTx does. fn must commit, or the transaction is rolled
// back.
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
