package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// pair identifies a delivery by subscription and event, as the database does.
type pair struct{ Subscription, Event id.ID }

// query repeats an SQL query until the database answers.
func query[T any](
	ctx context.Context, w *suite, scan pgx.RowToFunc[T], sql string, args ...any,
) (found []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		var rows pgx.Rows
		if rows, err = w.Pool.Query(ctx, sql, args...); err == nil {
			if found, err = pgx.CollectRows(rows, scan); err == nil {
				return found, nil
			}
		}
		if world.Sleep(ctx, 50*time.Millisecond) != nil {
			return nil, fmt.Errorf("the database does not answer us: %w", err)
		}
	}
}

// value repeats an SQL query for a single value until the database answers.
func value[T any](ctx context.Context, w *suite, sql string, args ...any) (found T, err error) {
	rows, err := query(ctx, w, pgx.RowTo[T], sql, args...)
	if err != nil || len(rows) != 1 {
		return found, errors.Join(err, fmt.Errorf("%d rows in place of one", len(rows)))
	}
	return rows[0], nil
}

// noteInFlight records the deliveries in flight when the process n (nil: any) died or was suspended. Only these
// may have a second copy because of that process.
func (w *suite) noteInFlight(ctx context.Context, n *node) error {
	if n != nil && n.http {
		return nil
	}
	at := time.Now()
	pairs, err := query(ctx, w, pgx.RowToStructByPos[pair],
		`SELECT subscription_id, event_id FROM deliveries WHERE state = 1`)
	w.mu.Lock()
	for _, p := range pairs {
		w.inFlight[p] = append(w.inFlight[p], at)
	}
	w.mu.Unlock()
	return err
}

// open counts the unfinished deliveries and outbox rows (events without deliveries) of changes committed before
// cut, of the subscriptions in only. Each state of a delivery has an index, so the query names each.
func (w *suite) open(ctx context.Context, cut time.Time, only []id.ID) (int, error) {
	return value[int](ctx, w, `
		WITH unfinished AS (
			SELECT event_at, subscription_id FROM deliveries WHERE state = 1
			UNION ALL SELECT event_at, subscription_id FROM deliveries WHERE state = 0 AND due_at IS NOT NULL
			UNION ALL SELECT event_at, subscription_id FROM deliveries WHERE state = 0 AND due_at IS NULL)
		SELECT (SELECT count(*) FROM outbox WHERE committed_at < $1) + (SELECT count(*) FROM unfinished
			WHERE event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))`, cut, only)
}

// dispatches is a query for the deliveries that are sent without a stored outcome, with the number of the attempt.
const dispatches = `SELECT format('%s %s %s', subscription_id, id, attempts) FROM deliveries WHERE state = 1`

// recover waits after a fault until all earlier changes have reached the endpoint that always answers well, and
// all outcomes are stored; in a short run, until a first arrival. It returns the time since the fault. A passed
// deadline is a violation.
func (w *suite) recover(ctx context.Context, since time.Time) (took time.Duration, err error) {
	cut, steady := time.Now(), []id.ID{w.receivers.of("steady")[0].id}
	dispatched, err := query(ctx, w, pgx.RowTo[string], dispatches)
	if err != nil {
		return 0, err
	}
	arrived := func() (bool, error) {
		took = time.Since(since)
		return w.receipts.lastArrival().After(cut), nil
	}
	through := func() (bool, error) {
		n, err := w.open(ctx, cut, steady)
		took = time.Since(since)
		return n == 0, err
	}
	// A delivery sent again after its lease (the time for one attempt) has a higher attempt number, and no longer
	// counts as in flight.
	recorded := func() (bool, error) {
		n, err := value[int](ctx, w, `SELECT count(*) FROM (`+dispatches+`) AS d(name) WHERE name = ANY ($1)`,
			dispatched)
		return n == 0, err
	}
	conditions := []func() (bool, error){arrived, through, recorded}
	if w.o.short {
		conditions = conditions[:1]
	}
	for _, holds := range conditions {
		if ok, err := w.until(ctx, cut, holds); !ok || err != nil {
			return took, err
		}
	}
	return took, nil
}

// until polls a condition up to the deadline after cut, whose passing is a violation.
func (w *suite) until(ctx context.Context, cut time.Time, holds func() (bool, error)) (ok bool, err error) {
	if ok, err = poll(ctx, 50*ms, w.o.deadline-time.Since(cut), holds); !ok && err == nil {
		w.stuck(ctx, cut)
	}
	return ok, err
}

// stuck records a violation with up to five deliveries that have not ended.
func (w *suite) stuck(ctx context.Context, cut time.Time) {
	lines, err := query(ctx, w, pgx.RowTo[string], `
		SELECT format('state %s, seq %s, attempts %s, due in %s, committed %s ago, at %s',
			d.state, d.seq, d.attempts, d.due_at - now(), now() - d.event_at, s.url)
		FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
		WHERE d.state IN (0, 1) AND d.event_at < $1 ORDER BY d.event_at LIMIT 5`, cut)
	w.receipts.violate("stuck", "not everything came through within %v; such as: %q %v", w.o.deadline, lines, err)
}
