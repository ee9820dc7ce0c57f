package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// partitionsTimeout is the time limit of a statement that makes a partition, into which many rows may have to
// be moved.
const partitionsTimeout = 2 * time.Minute

// partition is one day of a table that is partitioned by day.
type partition struct {
	Parent string    // The name of the partitioned table: events or delivery_attempts.
	Day    time.Time // The day of the partition, as midnight in UTC at its beginning.
}

func (p partition) key() string {
	if p.Parent == "events" {
		return "id"
	}
	return "started_at"
}

func (p partition) name() string { return p.Parent + "_" + p.Day.UTC().Format("20060102") }

// bound returns an instant as an SQL literal that bounds the partition: the least UUID v7 of the instant for
// events, the instant itself for attempts.
func (p partition) bound(at time.Time) string {
	if p.Parent == "events" {
		ms := fmt.Sprintf("%012x", at.UnixMilli())
		return "'" + ms[:8] + "-" + ms[8:] + "-0000-0000-000000000000'"
	}
	return "'" + at.UTC().Format("2006-01-02 15:04:05+00") + "'"
}

// missingPartitions is the SQL of the days without a partition: today first, yesterday to $1 days ahead, and
// the days of rows in a default partition.
const missingPartitions = `
	WITH today AS (SELECT date_trunc('day', now(), 'UTC') AS day),
	wanted(parent, day) AS (
		SELECT p.parent, d FROM today, (VALUES ('events'), ('delivery_attempts')) AS p(parent),
			generate_series(today.day - interval '1 day', today.day + make_interval(days => $1), interval '1 day') AS d
		UNION
		SELECT 'events', date_trunc('day', to_timestamp(('x' || left(replace(id::text, '-', ''),
		12))::bit(48)::bigint / 1000.0), 'UTC') FROM events_rest
		UNION
		SELECT 'delivery_attempts', date_trunc('day', started_at, 'UTC') FROM delivery_attempts_rest)
	SELECT w.parent, w.day FROM wanted w, today
	WHERE w.day <= today.day + make_interval(days => $1) AND NOT EXISTS (
		SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = w.parent::regclass AND c.relname = w.parent || '_' || to_char(w.day AT TIME ZONE 'UTC',
		'YYYYMMDD'))
	ORDER BY abs(extract(epoch FROM w.day - today.day)), w.parent`

// EnsurePartitions makes the missing partitions up to some days ahead, each in a transaction of its own.
func (s RetentionStore) EnsurePartitions(ctx context.Context, days int) error {
	rows, err := s.DB.Query(ctx, missingPartitions, days)
	if err != nil {
		return err
	}
	missing, err := pgx.CollectRows(rows, pgx.RowToStructByPos[partition])
	if err != nil {
		return err
	}
	var failures []error
	for _, p := range missing {
		if err := s.makePartition(ctx, p); err != nil {
			failures = append(failures, fmt.Errorf("partition %s: %w", p.name(), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failures...)
}

// makePartition makes the partition of a day from a new table, to which it first moves the day's rows of the
// default partition.
func (s RetentionStore) makePartition(ctx context.Context, p partition) error {
	from, to := p.bound(p.Day), p.bound(p.Day.AddDate(0, 0, 1))
	rest, name, key := p.Parent+"_rest", p.name(), p.key()
	return pg.RunInTx(ctx, s.DB.Pool, func(t *pg.Tx) error {
		var mine, made bool
		err := t.QueryRow(ctx,
			`SELECT pg_try_advisory_xact_lock(hashtext('ensure_partitions'))
				AND set_config('statement_timeout', $1, true) <> ''`,
			pg.FormatMillis(partitionsTimeout)).Scan(&mine)
		// Another process holds the lock and is making the partitions.
		if err != nil || !mine {
			return err
		}
		// Check for the partition separately: an earlier snapshot may be older than the commit of the lock's last
		// holder.
		err = t.QueryRow(ctx, `SELECT coalesce((SELECT relispartition FROM pg_class WHERE oid = to_regclass($1)), false)`,
			name).Scan(&made)
		if err != nil || made {
			return err
		}
		// Run the statements one by one, since each can be prepared only after the previous one has run.
		for _, statement := range []string{
			`CREATE TABLE ` + name + ` (LIKE ` + p.Parent + ` INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
			`LOCK TABLE ` + rest + ` IN ACCESS EXCLUSIVE MODE`,
			`WITH moved AS (DELETE FROM ` + rest + ` WHERE ` + key + ` >= ` + from + ` AND ` + key + ` < ` + to + ` RETURNING *)
				INSERT INTO ` + name + ` SELECT * FROM moved`,
			`ALTER TABLE ` + p.Parent + ` ATTACH PARTITION ` + name + ` FOR VALUES FROM (` + from + `) TO (` + to + `)`,
		} {
			if _, err := t.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return t.Commit(ctx)
	})
}

func (s RetentionStore) DropPartitions(ctx context.Context, days int) error {
	// Pass the age in days, since a Go duration would arrive as hours.
	_, err := s.DB.Exec(ctx, `SELECT drop_expired_partitions(make_interval(days => $1))`, days)
	return err
}
