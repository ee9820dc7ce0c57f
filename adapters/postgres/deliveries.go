package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// attemptsBefore allows for a dispatcher whose clock is behind that of the database when attempts are looked for.
const attemptsBefore = time.Hour

type deliveries struct{ unit }

// InsertTest implements ports.DeliveryRepository.
func (r deliveries) InsertTest(ctx context.Context, d webhook.Delivery) error {
	return r.q.InsertTestDelivery(ctx, r.later(), sqlc.InsertTestDeliveryParams{
		ID: d.ID, SubscriptionID: d.SubscriptionID, EventID: d.EventID, Event: d.Event, DepositID: d.DepositID, Body: d.Body, CreatedAt: d.ID.Time(),
	})
}

// Deliveries implements ports.DeliveryReader.
func (s *Store) Deliveries(ctx context.Context, subscriptionID id.ID, f ports.DeliveryFilter, page ports.Page) (ports.List[webhook.Delivery], error) {
	l := newList(`SELECT id, subscription_id, event_id, event, deposit_id, test, state, attempts, due_at, NULL::bytea, encode(sha256(body), 'hex'),
		redelivery_of, created_at, finished_at,
		taken_at, coalesce(taken_ms, 0)::integer, coalesce(taken_status, 0)::smallint, coalesce(taken_snippet, '') FROM deliveries WHERE subscription_id = ?`, subscriptionID)
	switch f.Status {
	case webhook.StatusPending:
		l.where("state IN (0, 1) AND attempts = 0")
	case webhook.StatusRetrying:
		l.where("state IN (0, 1) AND attempts > 0")
	case webhook.StatusSucceeded:
		l.where("state = 2")
	case webhook.StatusFailed:
		l.where("state IN (3, 4)")
	}
	if f.Event != "" {
		l.where("event = ?", f.Event)
	}
	if !f.DepositID.IsZero() {
		l.where("deposit_id = ?", f.DepositID)
	}
	l.withinID("id", f.Created)
	l.pageByID("id", page)
	found, err := read(ctx, s.db, l, page, func(row pgx.CollectableRow) (webhook.Delivery, error) {
		d, err := pgx.RowToStructByPos[sqlc.DeliveryByIDRow](row)
		return toDelivery(d), err
	}, func(d webhook.Delivery) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
	if err != nil {
		return found, err
	}
	return found, s.addAttempts(ctx, found.Items)
}

// Delivery implements ports.DeliveryReader.
func (s *Store) Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error) {
	row, err := s.q.DeliveryByID(ctx, s.db, deliveryID, subscriptionID)
	if err != nil {
		return webhook.Delivery{}, none(err, webhook.ErrDeliveryNotFound)
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
	case webhook.Dispatched, webhook.Failed, webhook.Cancelled: // a lease's end is no next attempt
	}
	return d
}

// addAttempts puts the attempts that failed before the one that succeeded, if one did. The oldest delivery bounds the daily partitions that are looked at.
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
	rows, err := s.q.AttemptsOf(ctx, s.db, ids, since.Add(-attemptsBefore))
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
