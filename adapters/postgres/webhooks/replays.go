package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// Insert implements webhookports.Replays.
func (r Replays) Insert(ctx context.Context, p webhook.Replay) error {
	return queries.InsertReplay(ctx, pg.In(ctx).Deferred(), sqlc.InsertReplayParams{
		ID: p.ID, SubscriptionID: p.SubscriptionID, From: p.From, To: p.To, Status: p.Status,
		PerSecond: p.PerSecond, Matched: p.Matched, CreatedAt: p.CreatedAt, NextAt: p.NextAt,
	})
}

func (r Replays) Next(ctx context.Context, now time.Time) (webhook.Replay, bool, error) {
	row, err := queries.NextReplay(ctx, pg.In(ctx), now)
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Replay{}, false, nil
	}
	return webhook.Replay(row), err == nil, err
}

func (r Replays) Matching(ctx context.Context, p webhook.Replay, limit int) ([]id.ID, error) {
	l := matching(p)
	l.Where("EXISTS (SELECT FROM webhook_subscriptions s WHERE s.id = ? AND s.deleted_at IS NULL)", p.SubscriptionID)
	if !p.Cursor.IsZero() {
		l.Where("id > ?", p.Cursor)
	}
	rows, err := pg.In(ctx).Query(ctx, "SELECT id FROM deliveries"+l.Conditions()+" ORDER BY id LIMIT "+l.Argument(limit),
		l.Args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

func (r Replays) Update(ctx context.Context, before, after webhook.Replay) error {
	return queries.UpdateReplay(ctx, pg.In(ctx).Deferred(), sqlc.UpdateReplayParams{
		ID: before.ID, WasNextAt: before.NextAt,
		Redelivered: after.Redelivered, Cursor: after.Cursor, NextAt: after.NextAt, FinishedAt: after.FinishedAt,
	})
}

func (r Replays) DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteFinishedReplays(ctx, pg.In(ctx), at, limit)
	return int(n), err
}

// Replay implements webhookports.Replays.
func (r Replays) Replay(ctx context.Context, replayID id.ID) (webhook.Replay, error) {
	row, err := queries.ReplayByID(ctx, r.DB, replayID)
	return webhook.Replay(row), pg.OrNotFound(err, webhook.ErrReplayNotFound)
}

// CountMatching implements webhookports.Replays.
func (r Replays) CountMatching(ctx context.Context, p webhook.Replay) (n int, err error) {
	l := matching(p)
	err = r.DB.QueryRow(ctx, "SELECT count(*) FROM deliveries"+l.Conditions(), l.Args...).Scan(&n)
	return n, err
}

// matching holds the conditions of the deliveries that a replay repeats: originals of its time span that have its
// status now.
func matching(p webhook.Replay) *lists.List {
	l := &lists.List{}
	l.Where("subscription_id = ?", p.SubscriptionID)
	l.Where(statusCondition(p.Status) + " AND redelivery_of IS NULL AND NOT test")
	l.SpanOfIDs("id", ports.Span{From: p.From, To: p.Until()})
	return l
}
