package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// clockSkew widens the search for attempts: a dispatcher's clock may be behind the database's clock.
const clockSkew = time.Hour

type deliveries struct{ unit }

// InsertTest implements ports.DeliveryRepository.
func (r deliveries) InsertTest(ctx context.Context, d webhook.Delivery) error {
	return r.q.InsertTestDelivery(ctx, r.Deferred(), sqlc.InsertTestDeliveryParams{
		ID: d.ID, SubscriptionID: d.SubscriptionID, EventID: d.EventID, Event: d.Event, DepositID: d.DepositID, Body: d.Body, CreatedAt: d.ID.Time(),
	})
}

// Redeliver implements ports.DeliveryRepository. The database copies the bodies; no body travels to this process.
func (r deliveries) Redeliver(ctx context.Context, subscriptionID id.ID, copies []ports.Copy) ([]webhook.Delivery, error) {
	of, as, created := make([]id.ID, len(copies)), make([]id.ID, len(copies)), make([]time.Time, len(copies))
	for i, c := range copies {
		of[i], as[i], created[i] = c.Of, c.As, c.As.Time()
	}
	// event_at is now: the latency of a redelivery counts from its request.
	rows, err := r.Query(ctx, `
		WITH open AS (SELECT id FROM webhook_subscriptions WHERE id = $1 AND enabled AND deleted_at IS NULL FOR SHARE)
		INSERT INTO deliveries (subscription_id, id, event_id, event, deposit_id, test, state, due_at, body, redelivery_of, event_at, created_at)
		SELECT d.subscription_id, c.id, d.event_id, d.event, d.deposit_id, d.test, 0, now(), d.body, coalesce(d.redelivery_of, d.id), now(), c.created_at
		FROM open CROSS JOIN unnest($2::uuid[], $3::uuid[], $4::timestamptz[]) AS c(source, id, created_at)
		JOIN deliveries d ON d.subscription_id = open.id AND d.id = c.source
		RETURNING `+deliveryColumns, subscriptionID, of, as, created)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanDelivery)
}

// deliveryColumns are the columns of sqlc.DeliveryByIDRow, in the same order, with NULL for the body.
const deliveryColumns = `id, subscription_id, event_id, event, deposit_id, test, state, attempts, due_at, NULL::bytea, encode(sha256(body), 'hex'),
	redelivery_of, created_at, finished_at,
	taken_at, coalesce(taken_ms, 0)::integer, coalesce(taken_status, 0)::smallint, coalesce(taken_snippet, '')`

func scanDelivery(row pgx.CollectableRow) (webhook.Delivery, error) {
	d, err := pgx.RowToStructByPos[sqlc.DeliveryByIDRow](row)
	return toDelivery(d), err
}

// statusCondition is the SQL condition for deliveries of a status; "" means any status. The text for failed deliveries is the
// condition of the index deliveries_failed, so that the planner can use the index.
func statusCondition(status webhook.Status) string {
	switch status {
	case webhook.StatusPending:
		return "state IN (0, 1) AND attempts = 0"
	case webhook.StatusRetrying:
		return "state IN (0, 1) AND attempts > 0"
	case webhook.StatusSucceeded:
		return "state = 2"
	case webhook.StatusFailed:
		return "state IN (3, 4)"
	}
	return "true"
}

// Deliveries implements ports.DeliveryReader.
func (s *Store) Deliveries(ctx context.Context, subscriptionID id.ID, f ports.DeliveryFilter, page ports.Page) (ports.List[webhook.Delivery], error) {
	l := newList(`SELECT `+deliveryColumns+` FROM deliveries WHERE subscription_id = ?`, subscriptionID)
	l.where(statusCondition(f.Status))
	if f.Event != "" {
		l.where("event = ?", f.Event)
	}
	if !f.DepositID.IsZero() {
		l.where("deposit_id = ?", f.DepositID)
	}
	l.withinID("id", f.Created)
	l.pageByID("id", page)
	found, err := read(ctx, s.db, l, page, scanDelivery, func(d webhook.Delivery) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
	if err != nil {
		return found, err
	}
	return found, s.addAttempts(ctx, found.Items)
}

// Delivery implements ports.DeliveryReader.
func (s *Store) Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error) {
	row, err := s.q.DeliveryByID(ctx, s.db, deliveryID, subscriptionID)
	if err != nil {
		return webhook.Delivery{}, pg.OrNotFound(err, webhook.ErrDeliveryNotFound)
	}
	one := []webhook.Delivery{toDelivery(row)}
	err = s.addAttempts(ctx, one)
	return one[0], err
}

func toDelivery(row sqlc.DeliveryByIDRow) webhook.Delivery {
	d := webhook.Delivery{
		ID: row.ID, SubscriptionID: row.SubscriptionID, EventID: row.EventID, Event: row.Event, DepositID: row.DepositID, Test: row.Test,
		State: row.State, Attempts: int(row.Attempts), CreatedAt: row.CreatedAt, RedeliveryOf: row.RedeliveryOf,
		Body: row.Body, BodySHA256: row.BodySha256,
	}
	switch row.State {
	case webhook.Waiting:
		d.DueAt = row.DueAt
	case webhook.Succeeded:
		d.DeliveredAt = row.TakenAt.Add(time.Duration(row.TakenMs) * time.Millisecond)
		d.AttemptLog = []webhook.Attempt{{
			Number: d.Attempts, StartedAt: row.TakenAt, Duration: time.Duration(row.TakenMs) * time.Millisecond,
			Result: webhook.ResultSuccess, ResponseStatus: int(row.TakenStatus), Snippet: row.TakenSnippet,
		}}
	case webhook.Dispatched, webhook.Failed, webhook.Cancelled: // no next attempt: DueAt of a dispatched delivery is the end of its lease
	}
	return d
}

// addAttempts adds the failed attempts of deliveries to their logs, in the order of their numbers. Attempts are partitioned
// by day; the creation of the oldest delivery bounds the partitions that Postgres reads.
func (s *Store) addAttempts(ctx context.Context, found []webhook.Delivery) error {
	if len(found) == 0 {
		return nil
	}
	place := make(map[id.ID]int, len(found))
	ids, since := make([]id.ID, len(found)), found[0].CreatedAt
	for i, d := range found {
		place[d.ID], ids[i] = i, d.ID
		if d.CreatedAt.Before(since) {
			since = d.CreatedAt
		}
	}
	rows, err := s.q.AttemptsOf(ctx, s.db, ids, since.Add(-clockSkew))
	for _, row := range rows {
		d := &found[place[row.DeliveryID]]
		d.AttemptLog = append(d.AttemptLog, webhook.Attempt{
			Number: int(row.Number), StartedAt: row.StartedAt, Duration: time.Duration(row.DurationMs) * time.Millisecond,
			Result: webhook.Result(row.Result), ResponseStatus: int(row.ResponseStatus), Snippet: row.Snippet, Detail: row.Detail,
		})
	}
	for _, d := range found {
		slices.SortStableFunc(d.AttemptLog, func(a, b webhook.Attempt) int { return a.Number - b.Number })
	}
	return err
}
