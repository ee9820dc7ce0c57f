package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
)

// pair is a delivery as the database names it.
type pair struct{ subscription, event id.ID }

// stock is what was dispatched and not recorded when a process died or stood still: only of these may a second copy be
// sent because of it.
type stock struct {
	at    time.Time
	pairs []pair
}

// databasePatience is how long our own questions wait for a database that is being tormented.
const databasePatience = 2 * time.Minute

// query asks until the database answers.
func query[T any](ctx context.Context, w *world, scan pgx.RowToFunc[T], sql string, args ...any) (found []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	for {
		var rows pgx.Rows
		if rows, err = w.pool.Query(ctx, sql, args...); err == nil {
			if found, err = pgx.CollectRows(rows, scan); err == nil {
				return found, nil
			}
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("the database does not answer us: %w", err)
		case <-timer.C:
		}
	}
}

// takeStock notes what is in flight: n has just died, or is about to stand still; nil means everybody.
func (w *world) takeStock(ctx context.Context, n *node) error {
	if n != nil && n.http {
		return nil // it POSTs nothing
	}
	s := stock{at: time.Now()}
	var err error
	s.pairs, err = query(ctx, w, func(row pgx.CollectableRow) (p pair, err error) {
		err = row.Scan(&p.subscription, &p.event)
		return p, err
	}, `SELECT subscription_id, event_id FROM deliveries WHERE state = 1`)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stocks = append(w.stocks, s)
	return err
}

// open counts what was committed before cut and is not settled: in the outbox, waiting or dispatched. With only, of
// those subscriptions.
func (w *world) open(ctx context.Context, cut time.Time, only []id.ID) (int, error) {
	counts, err := query(ctx, w, pgx.RowTo[int], `
		SELECT (SELECT count(*) FROM outbox WHERE committed_at < $1)
			+ (SELECT count(*) FROM deliveries WHERE state = 1 AND event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))
			+ (SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NOT NULL AND event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))
			+ (SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NULL AND event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))`, cut, only)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// dispatched is a delivery that was under way, and how often it had been attempted by then.
type dispatched struct {
	subscription, delivery id.ID
	attempts               int32
}

// underWay lists what is dispatched and not recorded.
func (w *world) underWay(ctx context.Context) ([]dispatched, error) {
	return query(ctx, w, func(row pgx.CollectableRow) (d dispatched, err error) {
		err = row.Scan(&d.subscription, &d.delivery, &d.attempts)
		return d, err
	}, `SELECT subscription_id, id, attempts FROM deliveries WHERE state = 1`)
}

// unrecorded counts those that still have no record. That a lease ran out and the delivery was dispatched again is none:
// its second copy belongs to the fault that made it, not to the next one.
func (w *world) unrecorded(ctx context.Context, list []dispatched) (int, error) {
	subs, ids, attempts := make([]id.ID, len(list)), make([]id.ID, len(list)), make([]int32, len(list))
	for i, d := range list {
		subs[i], ids[i], attempts[i] = d.subscription, d.delivery, d.attempts
	}
	counts, err := query(ctx, w, pgx.RowTo[int], `
		SELECT count(*) FROM unnest($1::uuid[], $2::uuid[], $3::int4[]) AS c(sub, id, attempts)
		JOIN deliveries d ON d.subscription_id = c.sub AND d.id = c.id WHERE d.state = 1 AND d.attempts = c.attempts`, subs, ids, attempts)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// stretch is a span of time.
type stretch struct{ from, to time.Time }

// noteCalm notes that nothing but Redis was disturbed for a while.
func (w *world) noteCalm(s stretch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = append(w.calm, s)
}

// redisAlone tells whether nothing but Redis was disturbed then.
func (w *world) redisAlone(at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.calm, func(s stretch) bool { return !at.Before(s.from) && at.Before(s.to) })
}

// recovery is how long the service took after a fault.
type recovery struct {
	first time.Duration // until some delivery arrived again
	all   time.Duration // until everything committed before had arrived at every endpoint that takes what it is sent
}

// recover waits until everything committed before now has come through to the endpoints that take what they are sent, and
// nothing that was under way is without a record. It is a violation when that takes longer than the deadline; the error
// is of our own doing.
func (w *world) recover(ctx context.Context, since time.Time) (r recovery, err error) {
	next, cut, steady := w.ledger.nextTaken(), time.Now(), w.healthy()
	open, err := w.underWay(ctx)
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

// finish waits until everything committed before now has come to its end, at every endpoint.
func (w *world) finish(ctx context.Context) error {
	cut := time.Now()
	_, err := w.until(ctx, cut, func() (bool, error) {
		n, err := w.open(ctx, cut, nil)
		return n == 0, err
	})
	return err
}

// until asks again and again whether something holds. It is a violation when that takes longer than the deadline.
func (w *world) until(ctx context.Context, cut time.Time, holds func() (bool, error)) (ok bool, err error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if ok, err = holds(); ok || err != nil {
			return ok, err
		}
		if time.Since(cut) > w.o.deadline {
			w.stuck(ctx, cut)
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-ticker.C:
		}
	}
}

// await only waits for the service to deliver again. It is a violation when that takes longer than the deadline.
func (w *world) await(ctx context.Context, since time.Time) (r recovery, err error) {
	timer := time.NewTimer(w.o.deadline)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return r, ctx.Err()
	case <-timer.C:
		w.ledger.violate("stuck", "nothing was delivered within %v", w.o.deadline)
	case <-w.ledger.nextTaken():
	}
	r.first = time.Since(since)
	return r, nil
}

// stuck tells what does not come through.
func (w *world) stuck(ctx context.Context, cut time.Time) {
	lines, err := query(ctx, w, pgx.RowTo[string], `
		SELECT format('state %s, seq %s, attempts %s, due in %s, committed %s ago, at %s', d.state, d.seq, d.attempts, d.due_at - now(), now() - d.event_at, s.url)
		FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id WHERE d.state IN (0, 1) AND d.event_at < $1 ORDER BY d.event_at LIMIT 5`, cut)
	w.ledger.violate("stuck", "not everything came through within %v; such as: %q %v", w.o.deadline, lines, err)
}
