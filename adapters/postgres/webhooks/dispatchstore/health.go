package dispatchstore

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// ends holds the last successful and the last failed POST to one endpoint in a batch.
type ends struct {
	// When the last successful and the last failed POST to the endpoint ended; zero if there was none.
	success, failure time.Time
	of               webhook.Attempt // The failed POST to the endpoint that ended last.
}

func (e *ends) add(a webhook.Attempt) {
	at := a.StartedAt.Add(a.Duration)
	switch {
	case a.OK():
		e.success = later(e.success, at)
	case at.After(e.failure):
		e.failure, e.of = at, a
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// adjustHealth updates the health of endpoints by the results of a batch. Rows of subscriptions are locked in
// order, before deliveries, against deadlocks.
func adjustHealth(
	ctx context.Context, t *pg.Tx, outcomes []webhookports.AttemptOutcome, adjust []id.ID, limit int, now time.Time,
) (map[id.ID]webhook.Health, error) {
	var subscriptions []webhookports.Subscription
	pg.QueueRowsInto(t, &subscriptions, collectSubscription, `SELECT `+subscriptionColumns+
		` FROM webhook_subscriptions s WHERE s.id = ANY ($1) ORDER BY s.id FOR NO KEY UPDATE`, adjust)
	if err := t.Flush(ctx); err != nil {
		return nil, err
	}
	health := make(map[id.ID]webhook.Health, len(subscriptions))
	for _, sub := range subscriptions {
		h, last := sub.Health, ends{}
		for _, o := range outcomes {
			if o.Delivery.SubscriptionID == sub.ID && o.Attempt.WasMade() {
				h = afterOutcome(t, h, o, limit, now)
				last.add(o.Attempt)
			}
		}
		health[sub.ID] = h
		var since time.Time // When the endpoint's state changed; zero if it did not.
		if h.State(sub.Enabled) != sub.Health.State(sub.Enabled) {
			since = now
		}
		t.Queue(`
			UPDATE webhook_subscriptions SET failures = $2, failing_since = $3, slow = $4, quick = $5, holds = $6,
			held_until = $7, ramp = $8, trouble = $13,
				state_since = coalesce($9, state_since), last_success_at = greatest(last_success_at, $10),
				last_error = CASE WHEN $11 >= coalesce(last_failure_at, $11) THEN $12 ELSE last_error END,
				unconnected = CASE WHEN $11 >= coalesce(last_failure_at, $11) THEN $14 ELSE unconnected END,
				last_failure_at = greatest(last_failure_at, $11)
			WHERE id = $1`,
			sub.ID, h.Failures, orNull(h.FailingSince), h.Slow, h.Quick, h.FailedProbes, orNull(h.OpenUntil), h.Ramp,
			orNull(since), orNull(last.success), orNull(last.failure), string(last.of.Result), h.Trouble,
			last.of.Unconnected)
	}
	return health, nil
}

// afterOutcome returns an endpoint's health after a POST, and queues the notice to the partner of a change.
func afterOutcome(t queuer, h webhook.Health, o webhookports.AttemptOutcome, limit int, now time.Time) webhook.Health {
	next, kind := h.AfterAttemptWithNotice(o.Attempt, o.Excused, o.Verdict.GivesUp(o.Delivery.Test), limit, now)
	if kind != "" {
		notice(t, o.Delivery.SubscriptionID, kind, now)
	}
	return next
}

// notice queues the storing of a notice about an endpoint, from which a mail is made.
func notice(batch queuer, sub id.ID, kind webhook.NoticeKind, at time.Time) {
	batch.Queue(
		`INSERT INTO webhook_notices (subscription_id, kind, at, mail_at) VALUES ($1, $2, $3, now() + $4::interval)`, sub,
		kind, at, kind.MailDelay())
}

// noticeGivenUp queues the storing of notices about deliveries that this transaction has given up.
func noticeGivenUp(batch queuer, outcomes []webhookports.AttemptOutcome) {
	var subs, ids []id.ID
	for _, o := range outcomes {
		if o.Verdict.GivesUp(o.Delivery.Test) {
			subs, ids = append(subs, o.Delivery.SubscriptionID), append(ids, o.Delivery.DeliveryID)
		}
	}
	if len(ids) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO webhook_notices (subscription_id, kind, at, deliveries)
		SELECT d.subscription_id, $3, now(), count(*) FROM unnest($1::uuid[], $2::uuid[]) AS ended(sub, id)
		JOIN deliveries d ON d.subscription_id = ended.sub AND d.id = ended.id
		WHERE d.state = 3 AND d.finished_at = now() GROUP BY d.subscription_id`, subs, ids, webhook.NoticeDeliveryGivenUp)
}

// tellSuccesses queues the storing of each endpoint's last successful POST. It skips locked rows: the time is
// not worth a wait.
func tellSuccesses(batch queuer, outcomes []webhookports.AttemptOutcome, adjusted []id.ID) {
	last := map[id.ID]*ends{}
	for _, o := range outcomes {
		sub := o.Delivery.SubscriptionID
		if !o.Tell || slices.Contains(adjusted, sub) {
			continue
		}
		if last[sub] == nil {
			last[sub] = &ends{}
		}
		last[sub].add(o.Attempt)
	}
	if len(last) == 0 {
		return
	}
	subs, at := make([]id.ID, 0, len(last)), make([]time.Time, 0, len(last))
	for sub := range last {
		subs = append(subs, sub)
	}
	slices.SortFunc(subs, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, sub := range subs {
		at = append(at, last[sub].success)
	}
	batch.Queue(`
		UPDATE webhook_subscriptions s SET last_success_at = told.at
		FROM (SELECT l.id, n.at FROM unnest($1::uuid[], $2::timestamptz[]) AS n(id, at)
		JOIN webhook_subscriptions l ON l.id = n.id
			WHERE l.last_success_at IS NULL OR l.last_success_at < n.at FOR NO KEY UPDATE OF l SKIP LOCKED) AS told
		WHERE s.id = told.id`, subs, at)
}

type queuer interface {
	Queue(sql string, args ...any) *pgx.QueuedQuery
}
