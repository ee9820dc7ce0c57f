package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	webhookports "partnerdeposits/ports/webhooks"
)

// MakeFailingEndpointsDue makes failing endpoints that match the selection be tried again at once. A zero field
// matches every endpoint. Rows of subscriptions are locked in order, before deliveries, against deadlocks.
func MakeFailingEndpointsDue(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, of webhookports.ProbeFilter) (p webhookports.ProbeResult, err error) {
	err = db.QueryRow(ctx, `
		WITH failing AS MATERIALIZED (
			SELECT l.id, l.held_until IS NOT NULL AS open FROM webhook_subscriptions l
			WHERE l.enabled AND l.deleted_at IS NULL
				AND CASE WHEN $3::timestamptz IS NULL THEN l.failing_since IS NOT NULL ELSE l.failing_since >= $3
				OR l.last_failure_at >= $3 END
				AND ($1::uuid IS NULL OR l.id = $1) AND ($2::uuid IS NULL OR l.partner_id = $2)
			ORDER BY l.id FOR NO KEY UPDATE),
		released AS (
			UPDATE webhook_subscriptions s SET held_until = least(s.held_until, now()), holds = 0 FROM failing f
			WHERE s.id = f.id AND f.open RETURNING s.id),
		retried AS (
			UPDATE deliveries d SET due_at = now() FROM failing f
			WHERE d.subscription_id = f.id AND d.state = 0 AND d.due_at > now() RETURNING d.id)
		SELECT (SELECT count(*) FROM released), (SELECT count(*) FROM retried)`,
		of.SubscriptionID, of.PartnerID, of.FailedSince).Scan(&p.Circuits, &p.Deliveries)
	return p, Translate(err)
}
