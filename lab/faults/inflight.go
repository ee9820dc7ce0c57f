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

// pair identifies a delivery by its subscription and its event, as the database does.
type pair struct{ Subscription, Event id.ID }

// query repeats an SQL query until the database answers, and returns the scanned rows.
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

// value repeats an SQL query until the database answers, and returns the single value of its result.
func value[T any](ctx context.Context, w *suite, sql string, args ...any) (found T, err error) {
	rows, err := query(ctx, w, pgx.RowTo[T], sql, args...)
	if err != nil || len(rows) != 1 {
		return found, errors.Join(err, fmt.Errorf("%d rows in place of one", len(rows)))
	}
	return rows[0], nil
}

// noteInFlight records the deliveries that were sent but whose outcome was not yet stored when the process n died
// or was suspended; n nil means all processes. Only these deliveries may have a second copy because of that
// process.
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

// open returns the number of unfinished deliveries, and of outbox rows (events not yet turned into deliveries),
// of changes that were committed before cut. A list in only limits the deliveries to these subscriptions. The
// query names each state of a delivery separately, since each state has an index of its own.
func (w *suite) open(ctx context.Context, cut time.Time, only []id.ID) (int, error) {
	return value[int](ctx, w, `
		WITH unfinished AS (
			SELECT event_at, subscription_id FROM deliveries WHERE state = 1
			UNION ALL SELECT event_at, subscription_id FROM deliveries WHERE state = 0 AND due_at IS NOT NULL
			UNION ALL SELECT event_at, subscription_id FROM deliveries WHERE state = 0 AND due_at IS NULL)
		SELECT (SELECT count(*) FROM outbox WHERE committed_at < $1) + (SELECT count(*) FROM unfinished
			WHERE event_at < $1 AND ($2::uuid[] IS NULL OR subscription_id = ANY ($2)))`, cut, only)
}

// dispatches is a query for the deliveries that are sent and whose outcome is not stored. It returns a text for
// each, with the number of the attempt.
const dispatches = `SELECT format('%s %s %s', subscription_id, id, attempts) FROM deliveries WHERE state = 1`

// recover waits after a fault until any delivery has arrived for the first time, all changes committed before now
// have reached the endpoint that always answers well, and the outcome of all deliveries now in flight is stored.
// A short run waits for the arrival only. Exceeding the deadline is a violation; an error is a failure of this
// program.
//
// Returns the time from the fault, at since, until the changes had reached that endpoint; in a short run,
// until the first arrival.
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
	// A delivery that was sent again after its lease (the time reserved for one attempt) ended has a higher attempt
	// number, so it no longer counts as in flight.
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

// until polls a condition up to the deadline after cut. ok: true if it holds; false after the deadline, which is a
// violation.
func (w *suite) until(ctx context.Context, cut time.Time, holds func() (bool, error)) (ok bool, err error) {
	if ok, err = poll(ctx, 50*ms, w.o.deadline-time.Since(cut), holds); !ok && err == nil {
		w.stuck(ctx, cut)
	}
	return ok, err
}

// stuck records a violation that lists up to five deliveries that have not ended.
func (w *suite) stuck(ctx context.Context, cut time.Time) {
	lines, err := query(ctx, w, pgx.RowTo[string], `
		SELECT format('state %s, seq %s, attempts %s, due in %s, committed %s ago, at %s',
			d.state, d.seq, d.attempts, d.due_at - now(), now() - d.event_at, s.url)
		FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
		WHERE d.state IN (0, 1) AND d.event_at < $1 ORDER BY d.event_at LIMIT 5`, cut)
	w.receipts.violate("stuck", "not everything came through within %v; such as: %q %v", w.o.deadline, lines, err)
}
