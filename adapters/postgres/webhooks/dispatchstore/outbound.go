package dispatchstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// selectEndpoints is the SQL for webhook.OutboundBroken, which decides whether this service's own way to the
// internet is broken.
const selectEndpoints = `
	SELECT partner_id, coalesce(substring(url
	FROM '^[a-z]+://([^/?#]+)'), url), failing_since, last_success_at, last_failure_at, coalesce(last_error, ''),
	unconnected
	FROM webhook_subscriptions WHERE enabled AND deleted_at IS NULL AND (last_success_at IS NOT NULL
	OR last_failure_at IS NOT NULL)`

func scanEndpoint(row pgx.CollectableRow) (e webhook.EndpointReachability, err error) {
	var failing, success, failure *time.Time
	err = row.Scan(&e.PartnerID, &e.Host, &failing, &success, &failure, &e.LastFailure.Result, &e.LastFailure.Unconnected)
	e.FailingSince, e.LastSuccessAt, e.LastFailureAt = orZero(failing), orZero(success), orZero(failure)
	return e, err
}

func (s *Store) Endpoints(ctx context.Context) ([]webhook.EndpointReachability, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return endpoints(ctx, s.pool)
}

func endpoints(ctx context.Context, pool *pgxpool.Pool) ([]webhook.EndpointReachability, error) {
	rows, err := pool.Query(ctx, selectEndpoints)
	if err != nil {
		return nil, pg.Translate(err)
	}
	all, err := pgx.CollectRows(rows, scanEndpoint)
	return all, pg.Translate(err)
}

func (s *Store) ProbeEndpoints(ctx context.Context, of webhookports.ProbeFilter) (webhookports.ProbeResult, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return pg.MakeFailingEndpointsDue(ctx, s.pool, of)
}
