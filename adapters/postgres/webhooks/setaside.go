package webhooks

import (
	"context"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// setAsideColumns are the columns of webhookports.SetAsideEvent, in the same order.
const setAsideColumns = `event_id, partner_id, name, deposit_id, created_at, set_aside_at, reason`

// SetAsideEvents implements webhookports.SetAside.
func (r SetAside) SetAsideEvents(ctx context.Context, limit int) ([]webhookports.SetAsideEvent, error) {
	rows, err := r.DB.Query(ctx, `SELECT `+setAsideColumns+` FROM outbox_set_aside ORDER BY event_id LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[webhookports.SetAsideEvent])
}

// Retry implements webhookports.SetAside. The event keeps the time of its commit, from which its latency counts.
func (r SetAside) Retry(ctx context.Context, eventID id.ID) (webhookports.SetAsideEvent, error) {
	pg.In(ctx).Appended = true
	return r.takeSetAside(ctx, `
		WITH taken AS (DELETE FROM outbox_set_aside WHERE event_id = $1 RETURNING *),
		back AS (INSERT INTO outbox (event_id, partner_id, name, deposit_id, data, created_at, committed_at)
			SELECT event_id, partner_id, name, deposit_id, data, created_at, committed_at FROM taken)
		SELECT `+setAsideColumns+` FROM taken`, eventID)
}

// Drop implements webhookports.SetAside.
func (r SetAside) Drop(ctx context.Context, eventID id.ID) (webhookports.SetAsideEvent, error) {
	return r.takeSetAside(ctx, `DELETE FROM outbox_set_aside WHERE event_id = $1 RETURNING `+setAsideColumns, eventID)
}

func (r SetAside) takeSetAside(ctx context.Context, sql string, eventID id.ID) (e webhookports.SetAsideEvent, err error) {
	err = pg.In(ctx).QueryRow(ctx, sql, eventID).Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.CreatedAt, &e.At, &e.Reason)
	return e, pg.OrNotFound(err, webhookports.ErrNotSetAside)
}
