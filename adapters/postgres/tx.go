package postgres

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
	finishWithin = 5 * time.Second // commit and rollback, whatever became of the caller
)

// tx is a transaction that saves round trips: BEGIN goes out with the first statement, and statements without an answer
// (see later) wait for the next one with an answer, or for COMMIT. Statements run in the order they were written, so a
// read sees every write before it; an error of a statement that waited surfaces there, at the latest from WithinTx.
type tx struct {
	conn     *pgxpool.Conn
	queue    *pgx.Batch
	appended bool   // to the outbox
	refuse   func() // ends the caller of any statement; nil: they are taken (member.go)
}

func begin(conn *pgxpool.Conn) *tx {
	t := &tx{conn: conn, queue: &pgx.Batch{}}
	t.queue.Queue("begin isolation level read committed")
	return t
}

// flush sends what waits and reads all answers.
func (t *tx) flush(ctx context.Context) error {
	if t.refuse != nil {
		t.refuse()
	}
	if t.queue.Len() == 0 {
		return nil
	}
	queue := t.queue
	t.queue = &pgx.Batch{}
	return translate(t.conn.SendBatch(ctx, queue).Close())
}

// Exec runs a statement now, for those who need its count.
func (t *tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	var tag pgconn.CommandTag
	t.queue.Queue(sql, args...).Exec(func(ct pgconn.CommandTag) error {
		tag = ct
		return nil
	})
	err := t.flush(ctx)
	return tag, err
}

func (t *tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	rows, err := t.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, translate(err)
	}
	return &ownedRows{Rows: rows}, nil
}

func (t *tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return waitingRow{t: t, ctx: ctx, sql: sql, args: args}
}

// waitingRow is asked for when it is scanned, so that it can be scanned while the answers of a batch are read.
type waitingRow struct {
	t    *tx
	ctx  context.Context // the row's whole life is one call of QueryRow(…).Scan(…)
	sql  string
	args []any
}

func (r waitingRow) Scan(dest ...any) error {
	found := r.t.row(r.sql, r.args, dest...)
	if err := r.t.flush(r.ctx); err != nil {
		return err
	}
	return translate(*found)
}

// row queues a query for one row. What it found is told after the flush: "no rows" is an answer, not an error of the batch.
func (t *tx) row(sql string, args []any, dest ...any) *error {
	found := new(error)
	t.queue.Queue(sql, args...).QueryRow(func(row pgx.Row) error {
		*found = row.Scan(dest...)
		var refused *pgconn.PgError
		if errors.As(*found, &refused) || unreachable(*found) {
			return *found
		}
		return nil
	})
	return found
}

// collect queues a query whose rows are in dst after the flush.
func collect[T any](t *tx, dst *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	t.queue.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*dst, err = pgx.CollectRows(rows, scan)
		return err
	})
}

// later takes statements whose answer nobody waits for.
func (t *tx) later() deferred { return deferred{t} }

type deferred struct{ *tx }

func (d deferred) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if d.refuse != nil {
		d.refuse()
	}
	d.queue.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// commit sends what waits and COMMIT in one go. Its context does not end with the caller's: a commit that was begun is
// seen through. When the connection breaks, nobody knows whether it took place, and the caller is told to come back.
func (t *tx) commit(ctx context.Context) error {
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
			return errRolledBack
		}
		return nil
	})
	return t.flush(ctx)
}

// untouched reports whether BEGIN still waits alone.
func (t *tx) untouched() bool {
	return t.queue.Len() == 1 && t.conn.Conn().PgConn().TxStatus() == 'I'
}

// end rolls back what was not committed and gives the connection back. A connection that fails here is closed by Release.
func (t *tx) end(ctx context.Context) {
	defer t.conn.Release()
	server := t.conn.Conn().PgConn()
	if server.IsClosed() || server.TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	_, _ = t.conn.Exec(ctx, "rollback")
}

// retry runs attempt again while it fails in a way that the next try may not.
func retry(ctx context.Context, attempt func() error) error {
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

// pipelined runs fn in a transaction of pool, tried again like those of WithinTx. What fn does not commit is rolled back.
func pipelined(ctx context.Context, pool *pgxpool.Pool, fn func(*tx) error) error {
	return retry(ctx, func() error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return translate(err)
		}
		t := begin(conn)
		defer t.end(ctx)
		return translate(fn(t))
	})
}
