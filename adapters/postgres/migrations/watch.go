package migrations

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

type Progress struct {
	// How many migrations are applied to the database, and how many this binary has.
	Applied, Total int
	Current        string // The file of the first migration that is not applied to the database; "" if all are.
	Index          string // The index that the running migration is building; "" if none.
	Done, Blocks   int64  // How many blocks of the table have been read for the index that is being built.
}

// WatchProgress reports the progress of migrations on other connections, at once and at each tick, until ctx
// ends.
func WatchProgress(ctx context.Context, databaseURL string, every time.Duration, report func(Progress)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			// The error is ignored, since nothing depends on the connection that watches a migration.
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for {
		if conn == nil || conn.IsClosed() {
			// If connecting fails, the connection is nil, and the next tick connects again.
			conn, _ = pgx.Connect(ctx, databaseURL)
		}
		if conn != nil {
			if p, err := progress(ctx, conn); err == nil {
				report(p)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func progress(ctx context.Context, conn *pgx.Conn) (p Progress, err error) {
	current, err := AppliedVersion(ctx, conn)
	if err != nil {
		return p, err
	}
	all := versions(files)
	p.Total = len(all)
	for _, v := range all {
		if v.number <= current {
			p.Applied++
		} else if p.Current == "" {
			p.Current = v.name
		}
	}
	err = conn.QueryRow(ctx,
		`SELECT coalesce(i.relname, ''), p.blocks_done, p.blocks_total FROM pg_stat_progress_create_index p
		LEFT JOIN pg_class i ON i.oid = p.index_relid WHERE p.datname = current_database() LIMIT 1`).Scan(&p.Index, &p.Done,
		&p.Blocks)
	// No row is no error: Postgres returns none while no index is being built.
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return p, err
}
