package webhooks

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

func (r ReplayStore) Insert(ctx context.Context, p webhook.Replay, most int) error {
	if err := queries.LockReplays(ctx, pg.In(ctx).QueueingTx(), p.SubscriptionID); err != nil {
		return err
	}
	return pg.RequireRowChanged(webhook.ErrReplayLimit)(queries.InsertReplay(ctx, pg.In(ctx), sqlc.InsertReplayParams{
		ID: p.ID, SubscriptionID: p.SubscriptionID, From: p.From, To: p.To, Status: string(p.Status),
		PerSecond: p.PerSecond, Matched: p.Matched, CreatedAt: p.CreatedAt, NextAt: p.NextAt, MaxRows: most,
	}))
}

func (r ReplayStore) LockNext(ctx context.Context, now time.Time) (webhook.Replay, bool, error) {
	row, err := queries.NextReplay(ctx, pg.In(ctx), now)
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Replay{}, false, nil
	}
	return webhook.Replay(row), err == nil, err
}

func (r ReplayStore) FindMatching(ctx context.Context, p webhook.Replay, limit int) (found []id.ID, upTo id.ID,
	err error) {
	l := matching(p)
	l.Where("EXISTS (SELECT FROM webhook_subscriptions s WHERE s.id = ? AND s.deleted_at IS NULL)", p.SubscriptionID)
	if !p.Cursor.IsZero() {
		l.Where("id > ?", p.Cursor)
	}
	read := " FROM deliveries" + l.WhereClause() + " ORDER BY id LIMIT "
	last := "SELECT id" + read + "1 OFFSET " + strconv.Itoa(webhook.MaxReplayStepReads-1)
	lastArgs := slices.Clone(l.Args)
	rows, err := pg.In(ctx).Query(ctx, "SELECT id"+oldest(p, read)+" ORDER BY id LIMIT "+l.AddArgument(limit), l.Args...)
	if err != nil {
		return nil, id.ID{}, err
	}
	if found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID]); err != nil || len(found) == limit {
		return found, id.ID{}, err
	}
	err = pg.In(ctx).QueryRow(ctx, last, lastArgs...).Scan(&upTo)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return found, upTo, err
}

func (r ReplayStore) CountWaitingRedeliveries(ctx context.Context, subscriptionID id.ID) (int, error) {
	return queries.WaitingRedeliveries(ctx, pg.In(ctx), subscriptionID, webhook.ReplayBacklogSampleSize)
}

func (r ReplayStore) Update(ctx context.Context, before, after webhook.Replay) error {
	return queries.UpdateReplay(ctx, pg.In(ctx).QueueingTx(), sqlc.UpdateReplayParams{
		ID: before.ID, WasNextAt: before.NextAt,
		Redelivered: after.Redelivered, Cursor: after.Cursor, NextAt: after.NextAt, FinishedAt: after.FinishedAt,
		PacedUntil: after.PacedUntil,
	})
}

func (r ReplayStore) DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteFinishedReplays(ctx, pg.In(ctx), at, limit)
	return int(n), err
}

func (r ReplayStore) Replay(ctx context.Context, replayID id.ID) (webhook.Replay, error) {
	row, err := queries.ReplayByID(ctx, r.DB, replayID)
	return webhook.Replay(row), pg.ReplaceErrNoRows(err, webhook.ErrReplayNotFound)
}

func (r ReplayStore) CountMatching(ctx context.Context, p webhook.Replay) (n int, err error) {
	l := matching(p)
	read := " FROM deliveries" + l.WhereClause() + " ORDER BY id LIMIT "
	err = r.DB.QueryRow(ctx, "SELECT count(*)"+oldest(p, read), l.Args...).Scan(&n)
	return n, err
}

func (r ReplayStore) CountUnfinished(ctx context.Context, subscriptionID id.ID) (int, error) {
	return queries.UnfinishedReplays(ctx, r.DB, subscriptionID)
}

// oldest returns the FROM clause of the deliveries that a replay (the redelivery of a time span) repeats, among
// the first webhook.MaxReplayStepReads rows read.
func oldest(p webhook.Replay, read string) string {
	return " FROM (SELECT id, state, attempts, redelivery_of, test" + read + strconv.Itoa(webhook.MaxReplayStepReads) +
		") d WHERE " + statusCondition(p.Status) + " AND redelivery_of IS NULL AND NOT test"
}

// matching returns the conditions for the deliveries that a replay of a time span reads.
func matching(p webhook.Replay) *lists.PageQuery {
	l := &lists.PageQuery{}
	l.Where("subscription_id = ?", p.SubscriptionID)
	if p.Status == webhook.StatusFailed {
		l.Where(statusCondition(p.Status))
	}
	l.WhereIDTimeSpan("id", ports.TimeSpan{From: p.From, To: p.RangeEnd()})
	return l
}
