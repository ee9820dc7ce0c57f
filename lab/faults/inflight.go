package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
)

// pair names a delivery by its columns in the database.
type pair struct{ subscription, event id.ID }

// inFlight lists the deliveries that were dispatched but not recorded when a process died or was suspended. Only these
// deliveries may have a second copy because of that process.
type inFlight struct {
	at    time.Time
	pairs []pair
}

// databasePatience bounds the retries of this program's own queries while the database is disturbed.
const databasePatience = 2 * time.Minute

// query repeats a statement until the database answers.
func query[T any](
	ctx context.Context, w *suite, scan pgx.RowToFunc[T], sql string, args ...any,
) (found []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	for {
		var rows pgx.Rows
		if rows, err = w.Pool.Query(ctx, sql, args...); err == nil {
			if found, err = pgx.CollectRows(rows, scan); err == nil {
				return found, nil
			}
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return nil, fmt.Errorf("the database does not answer us: %w", err)
		}
	}
}

// exec runs a statement until it succeeds. The statement must be repeatable.
func (w *suite) exec(ctx context.Context, sql string) error {
	_, err := query(ctx, w, func(pgx.CollectableRow) (struct{}, error) { return struct{}{}, nil }, sql)
	return err
}

// noteInFlight records the deliveries in flight at the death or suspension of n; nil stands for all processes.
func (w *suite) noteInFlight(ctx context.Context, n *node) error {
	if n != nil && n.http {
		return nil // http sends no POSTs
	}
	s := inFlight{at: time.Now()}
	var err error
	s.pairs, err = query(ctx, w, func(row pgx.CollectableRow) (p pair, err error) {
		err = row.Scan(&p.subscription, &p.event)
		return p, err
	}, `SELECT subscription_id, event_id FROM deliveries WHERE state = 1`)
	w.mu.Lock()
	w.inFlightLists = append(w.inFlightLists, s)
	w.mu.Unlock()
	return errors.Join(err, w.noteDeath(ctx, n))
}

// open counts the deliveries that are not finished and the outbox rows, for changes committed before cut. With only,
// deliveries of other subscriptions do not count.
func (w *suite) open(ctx context.Context, cut time.Time, only []id.ID) (int, error) {
	counts, err := query(ctx, w, pgx.RowTo[int], `
		SELECT (SELECT count(*) FROM outbox WHERE committed_at < $1) + (SELECT count(*) FROM deliveries
			WHERE state = 1 AND event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2))) + (SELECT count(*) FROM deliveries
			WHERE state = 0 AND due_at IS NOT NULL AND event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))
			+ (SELECT count(*) FROM deliveries
			WHERE state = 0 AND due_at IS NULL AND event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))`, cut, only)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// dispatched is a delivery in flight with its number of attempts.
type dispatched struct {
	subscription, delivery id.ID
	attempts               int32
}

// dispatchedNow lists the deliveries that are dispatched and not recorded.
func (w *suite) dispatchedNow(ctx context.Context) ([]dispatched, error) {
	return query(ctx, w, func(row pgx.CollectableRow) (d dispatched, err error) {
		err = row.Scan(&d.subscription, &d.delivery, &d.attempts)
		return d, err
	}, `SELECT subscription_id, id, attempts FROM deliveries WHERE state = 1`)
}

// unrecorded counts the deliveries of list whose attempt is still not recorded. A delivery that was dispatched again
// after its lease ran out does not count: the earlier fault explains its second copy.
func (w *suite) unrecorded(ctx context.Context, list []dispatched) (int, error) {
	subs, ids, attempts := make([]id.ID, len(list)), make([]id.ID, len(list)), make([]int32, len(list))
	for i, d := range list {
		subs[i], ids[i], attempts[i] = d.subscription, d.delivery, d.attempts
	}
	counts, err := query(ctx, w, pgx.RowTo[int], `
		SELECT count(*) FROM unnest($1::uuid[], $2::uuid[], $3::int4[]) AS c(sub, id, attempts)
		JOIN deliveries d ON d.subscription_id = c.sub AND d.id = c.id
		WHERE d.state = 1 AND d.attempts = c.attempts`, subs, ids, attempts)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// period is the time from from until before to.
type period struct{ from, to time.Time }

func (p period) has(at time.Time) bool { return !at.Before(p.from) && at.Before(p.to) }

// noteRedisOnly records a period in which only Redis was disturbed.
func (w *suite) noteRedisOnly(s period) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.redisOnly = append(w.redisOnly, s)
}

// redisAlone tells whether only Redis was disturbed at that time.
func (w *suite) redisAlone(at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.redisOnly, func(s period) bool { return s.has(at) })
}

// recovery measures the service after a fault.
type recovery struct {
	first time.Duration // until the next first 2xx of any delivery
	all   time.Duration // until all changes committed before had reached every healthy endpoint
}

// recover waits until all changes committed before now have reached the healthy endpoints and all deliveries then in
// flight are recorded. Exceeding the deadline is a violation; an error is a failure of this program.
func (w *suite) recover(ctx context.Context, since time.Time) (r recovery, err error) {
	next, cut, steady := w.receipts.nextTaken(), time.Now(), w.healthy()
	open, err := w.dispatchedNow(ctx)
	if err != nil {
		return r, err
	}
	arrived := func() (bool, error) {
		select {
		case <-next:
			r.first = time.Since(since)
			return true, nil
		default:
			return false, nil
		}
	}
	through := func() (bool, error) {
		n, err := w.open(ctx, cut, steady)
		r.all = time.Since(since)
		return n == 0, err
	}
	recorded := func() (bool, error) {
		n, err := w.unrecorded(ctx, open)
		return n == 0, err
	}
	for _, holds := range []func() (bool, error){arrived, through, recorded} {
		if ok, err := w.until(ctx, cut, holds); !ok || err != nil {
			return r, err
		}
	}
	return r, nil
}

// finish waits until every delivery of a change committed before now has ended.
func (w *suite) finish(ctx context.Context) error {
	cut := time.Now()
	_, err := w.until(ctx, cut, func() (bool, error) {
		n, err := w.open(ctx, cut, nil)
		return n == 0, err
	})
	return err
}

// until polls a condition. Exceeding the deadline is a violation.
func (w *suite) until(ctx context.Context, cut time.Time, holds func() (bool, error)) (ok bool, err error) {
	if ok, err = poll(ctx, 50*ms, w.o.deadline-time.Since(cut), holds); !ok && err == nil {
		w.stuck(ctx, cut)
	}
	return ok, err
}

// await waits for the next first 2xx only. Exceeding the deadline is a violation.
func (w *suite) await(ctx context.Context, since time.Time) (r recovery, err error) {
	select {
	case <-ctx.Done():
		return r, ctx.Err()
	case <-time.After(w.o.deadline):
		w.receipts.violate("stuck", "nothing was delivered within %v", w.o.deadline)
	case <-w.receipts.nextTaken():
	}
	r.first = time.Since(since)
	return r, nil
}

// stuck reports deliveries that have not ended.
func (w *suite) stuck(ctx context.Context, cut time.Time) {
	lines, err := query(ctx, w, pgx.RowTo[string], `
		SELECT format('state %s, seq %s, attempts %s, due in %s, committed %s ago, at %s',
			d.state, d.seq, d.attempts, d.due_at - now(), now() - d.event_at, s.url)
		FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
		WHERE d.state IN (0, 1) AND d.event_at < $1 ORDER BY d.event_at LIMIT 5`, cut)
	w.receipts.violate("stuck", "not everything came through within %v; such as: %q %v", w.o.deadline, lines, err)
}
