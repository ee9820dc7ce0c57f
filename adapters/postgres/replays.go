package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

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
	l := matching("id", p)
	l.where("EXISTS (SELECT FROM webhook_subscriptions s WHERE s.id = ? AND s.deleted_at IS NULL)", p.SubscriptionID)
	if !p.Cursor.IsZero() {
		l.where("id > ?", p.Cursor)
	}
	l.write(" ORDER BY id LIMIT ?", limit)
	rows, err := r.Query(ctx, l.sql.String(), l.args...)
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

// CountMatching implements ports.ReplayReader.
func (s *Store) CountMatching(ctx context.Context, p webhook.Replay) (n int, err error) {
	l := matching("count(*)", p)
	err = s.db.QueryRow(ctx, l.sql.String(), l.args...).Scan(&n)
	return n, err
}

// matching selects the deliveries that a replay repeats: originals of its time span that have its status now.
func matching(selection string, p webhook.Replay) *list {
	l := newList(`SELECT `+selection+` FROM deliveries WHERE subscription_id = ?`, p.SubscriptionID)
	l.where(statusCondition(p.Status) + " AND redelivery_of IS NULL AND NOT test")
	l.withinID("id", ports.Span{From: p.From, To: p.Until()})
	return l
}
