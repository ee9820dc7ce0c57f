package webhooks

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// SelectHealthReportsSQL is the SQL that reads the health of subscriptions $1 and counts their deliveries by
// state, in one snapshot. Triggers keep the number of those that wait (ADR 0012). "state + 0" selects the index
// deliveries_pending, which no other statement may use.
var SelectHealthReportsSQL = `
	WITH leased AS MATERIALIZED (
		SELECT subscription_id, count(*) AS n, min(id::text)::uuid AS oldest FROM deliveries
		WHERE state = 1 AND due_at > now() - ` + pg.IntervalSQL(webhook.EndedLeaseGrace) +
	` AND subscription_id = ANY ($1) GROUP BY subscription_id)
	SELECT s.id, s.enabled, s.disabled_reason, coalesce(s.state_since, s.failing_since, s.created_at), s.failures,
	s.held_until, s.ramp,
		s.last_success_at, s.last_failure_at, coalesce(s.last_error, ''), waiting.n, coalesce(leased.n, 0), oldest.id,
		leased.oldest
	FROM unnest($1::uuid[]) AS asked(id)
	CROSS JOIN LATERAL (SELECT * FROM webhook_subscriptions w WHERE w.id = asked.id OFFSET 0) AS s
	CROSS JOIN LATERAL (SELECT coalesce(sum(c.n), 0)::bigint AS n FROM waiting_counts c
	WHERE c.subscription_id = asked.id) AS waiting
	LEFT JOIN LATERAL (SELECT d.id FROM deliveries d WHERE waiting.n > 0 AND d.subscription_id = asked.id
	AND d.state + 0 = 0 ORDER BY d.id LIMIT 1) AS oldest ON true
	LEFT JOIN leased ON leased.subscription_id = s.id`

func (r SubscriptionStore) HealthReports(ctx context.Context,
	of []webhook.Subscription) ([]webhook.SubscriptionWithReport,
	error) {
	if len(of) == 0 {
		return []webhook.SubscriptionWithReport{}, nil
	}
	ids, place := make([]id.ID, len(of)), make(map[id.ID]int, len(of))
	for i, sub := range of {
		ids[i], place[sub.ID] = sub.ID, i
	}
	out := make([]webhook.SubscriptionWithReport, len(of))
	rows, err := r.DB.Query(ctx, SelectHealthReportsSQL, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		reported, waiting, dispatched, oldest, err := scanReport(rows)
		if err != nil {
			return nil, pg.Translate(err)
		}
		i := place[reported.ID]
		sub := of[i]
		sub.Enabled, sub.DisabledReason = reported.Enabled, reported.DisabledReason
		out[i] = webhook.SubscriptionWithReport{Subscription: sub,
			Health: reported.Health.WithPendingDeliveries(waiting+dispatched, oldest)}
	}
	return out, pg.Translate(rows.Err())
}

// scanReport scans a row of SelectHealthReportsSQL into those fields of the subscription that the row has.
func scanReport(row pgx.Rows) (r webhook.SubscriptionWithReport, waiting, dispatched int, oldest time.Time, err error) {
	var health webhook.Health
	var openUntil, success, failure *time.Time
	var oldestWaiting, oldestDispatched *id.ID
	err = row.Scan(&r.ID, &r.Enabled, &r.DisabledReason, &r.Health.Since, &health.Failures, &openUntil, &health.Ramp,
		&success, &failure, &r.Health.LastError, &waiting, &dispatched, &oldestWaiting, &oldestDispatched)
	health.OpenUntil, r.Health.LastSuccessAt, r.Health.LastFailureAt = pg.OrZero(openUntil), pg.OrZero(success),
		pg.OrZero(failure)
	r.Health.State = health.State(r.Enabled)
	for _, first := range []*id.ID{oldestWaiting, oldestDispatched} {
		if first != nil && (oldest.IsZero() || first.Time().Before(oldest)) {
			oldest = first.Time()
		}
	}
	return r, waiting, dispatched, oldest, err
}
