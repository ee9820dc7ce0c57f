package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// DB runs SQL statements outside transactions, with translated errors. Wait is the longest wait for a
// connection.
type DB struct {
	Pool *pgxpool.Pool
	Wait time.Duration
	// Unreadable is called for each row that cannot be read; nil means that such rows are not reported.
	Unreadable func(ctx context.Context, table string, rowID id.ID, err error)
}

// Acquire takes a connection from the pool, or returns service_unavailable.
func (d DB) Acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.ErrUnavailable.WithCause(err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.Wait)
	defer cancel()
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return nil, fault.ErrUnavailable.WithCause(err)
	}
	return conn, nil
}

func (d DB) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	conn, err := d.Acquire(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer conn.Release()
	tag, err := conn.Exec(ctx, sql, args...)
	return tag, Translate(err)
}

func (d DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	conn, err := d.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		conn.Release()
		return nil, Translate(err)
	}
	return &ownedRows{Rows: rows, release: conn.Release}, nil
}

func (d DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, sql, args...)
	return oneRow{rows, err}
}

// ownedRows are rows that release their connection when they are closed or the last is read.
type ownedRows struct {
	pgx.Rows
	release func()
}

func (r *ownedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *ownedRows) Close() {
	r.Rows.Close()
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

func (r *ownedRows) Err() error { return Translate(r.Rows.Err()) }

type oneRow struct {
	rows pgx.Rows
	err  error
}

func (r oneRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// ReplaceErrNoRows returns sentinel instead of pgx.ErrNoRows, and any other error unchanged.
func ReplaceErrNoRows(err, sentinel error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return sentinel
	}
	return err
}

// SendBatch runs a batch in a single round trip and a single transaction.
func (d DB) SendBatch(ctx context.Context, batch *pgx.Batch) error {
	conn, err := d.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return Translate(conn.SendBatch(ctx, batch).Close())
}
