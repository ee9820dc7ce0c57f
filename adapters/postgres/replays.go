package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

type replays struct{ unit }

// Insert implements ports.ReplayRepository.
func (r replays) Insert(ctx context.Context, p webhook.Replay) error {
	return r.q.InsertReplay(ctx, r.Deferred(), sqlc.InsertReplayParams{
		ID: p.ID, SubscriptionID: p.SubscriptionID, RangeFrom: p.From, RangeTo: p.To, Status: p.Status,
		PerSecond: int32(p.PerSecond), Matched: int32(p.Matched), CreatedAt: p.CreatedAt, NextAt: p.NextAt, //nolint:gosec // a count of rows
	})
}

func (r replays) Next(ctx context.Context, now time.Time) (webhook.Replay, bool, error) {
	row, err := r.q.NextReplay(ctx, r.Tx, now)
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Replay{}, false, nil
	}
	return webhook.Replay{
		ID: row.ID, SubscriptionID: row.SubscriptionID, From: row.RangeFrom, To: row.RangeTo, Status: row.Status,
		PerSecond: int(row.PerSecond), Matched: int(row.Matched), Made: int(row.Made), Cursor: row.CursorID,
		CreatedAt: row.CreatedAt, NextAt: row.NextAt, FinishedAt: row.FinishedAt,
	}, err == nil, err
}

func (r replays) Matching(ctx context.Context, p webhook.Replay, limit int) ([]id.ID, error) {
	l := matching(p)
	l.where("EXISTS (SELECT FROM webhook_subscriptions s WHERE s.id = ? AND s.deleted_at IS NULL)", p.SubscriptionID)
	if !p.Cursor.IsZero() {
		l.where("id > ?", p.Cursor)
	}
	rows, err := r.Query(ctx, "SELECT id FROM deliveries"+l.conditions()+" ORDER BY id LIMIT "+l.argument(limit), l.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

func (r replays) Update(ctx context.Context, before, after webhook.Replay) error {
	return r.q.UpdateReplay(ctx, r.Deferred(), sqlc.UpdateReplayParams{
		ID: before.ID, WasNextAt: before.NextAt,
		Made: int32(after.Made), CursorID: after.Cursor, NextAt: after.NextAt, FinishedAt: after.FinishedAt, //nolint:gosec // a count of rows
	})
}

func (r replays) DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := r.q.DeleteFinishedReplays(ctx, r.Tx, at, int32(limit)) //nolint:gosec // a batch
	return int(n), err
}

// Replay implements ports.ReplayReader.
func (s *Store) Replay(ctx context.Context, replayID id.ID) (p webhook.Replay, err error) {
	err = s.db.QueryRow(ctx, `SELECT id, subscription_id, range_from, range_to, status, per_second, matched, made, cursor_id, created_at, next_at, finished_at
		FROM webhook_replays WHERE id = $1`, replayID).Scan(&p.ID, &p.SubscriptionID, &p.From, &p.To, &p.Status, &p.PerSecond, &p.Matched, &p.Made,
		&p.Cursor, &p.CreatedAt, &p.NextAt, &p.FinishedAt)
	return p, pg.OrNotFound(err, webhook.ErrReplayNotFound)
}

// CountMatching implements ports.ReplayReader.
func (s *Store) CountMatching(ctx context.Context, p webhook.Replay) (n int, err error) {
	l := matching(p)
	err = s.db.QueryRow(ctx, "SELECT count(*) FROM deliveries"+l.conditions(), l.args...).Scan(&n)
	return n, err
}

// matching holds the conditions of the deliveries that a replay repeats: originals of its time span that have its status now.
func matching(p webhook.Replay) *list {
	l := &list{}
	l.where("subscription_id = ?", p.SubscriptionID)
	l.where(statusCondition(p.Status) + " AND redelivery_of IS NULL AND NOT test")
	l.spanOfIDs("id", ports.Span{From: p.From, To: p.Until()})
	return l
}
