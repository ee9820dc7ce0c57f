package postgres

import (
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// writes is what is written when the group commits. Who has written something asks no more: a question would have to
// see it.
type writes struct {
	transitions []sqlc.TransitionParams
	events      []sqlc.AppendEventParams
	responses   []sqlc.StoreResponseParams
}

func (w *writes) empty() bool { return len(w.transitions)+len(w.events)+len(w.responses) == 0 }

func (w *writes) add(o writes) {
	w.transitions = append(w.transitions, o.transitions...)
	w.events = append(w.events, o.events...)
	w.responses = append(w.responses, o.responses...)
}

// queue makes one statement of each kind.
func (w *writes) queue(t *pg.Tx) {
	if len(w.transitions) > 0 {
		queueTransitions(t, w.transitions)
	}
	if len(w.events) > 0 {
		queueEvents(t, w.events)
	}
	if len(w.responses) > 0 {
		queueResponses(t, w.responses)
	}
}

// queueTransitions is Transition of queries/deposits.sql. A step whose guard finds another status or version moves
// nothing; dividing by zero then ends the transaction, and whoever came late learns of it alone.
func queueTransitions(t *pg.Tx, steps []sqlc.TransitionParams) {
	type step = sqlc.TransitionParams
	t.Queue(`WITH moved AS (
			UPDATE deposits d SET status = n.to_status, status_reason = n.reason, version = n.version, captured_cents = n.captured, client_id = n.client,
				checkout_started_at = n.started, activated_at = n.activated, expires_at = n.expires, cancelled_at = n.cancelled, closed_at = n.closed,
				captured_at = n.captured_at, updated_at = n.updated
			FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[], $9::uuid[], $10::text[], $11::bigint[],
				$12::uuid[], $13::timestamptz[], $14::timestamptz[], $15::timestamptz[], $16::timestamptz[], $17::timestamptz[], $18::timestamptz[], $19::timestamptz[])
				AS n(id, version, from_status, to_status, trigger, at, actor, detail, event, reason, captured,
					client, started, activated, expires, cancelled, closed, captured_at, updated)
			WHERE d.id = n.id AND d.version = n.version - 1 AND d.status = n.from_status
			RETURNING n.id, n.version, n.from_status, n.to_status, n.trigger, n.at, n.actor, n.detail, n.event),
		told AS (
			INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at, actor, detail, event_id)
			SELECT m.id, m.version, m.from_status, m.to_status, m.trigger, m.at, m.actor, m.detail::jsonb, m.event FROM moved m)
		SELECT 1 / (count(*) = $20)::int FROM moved`,
		each(steps, func(s step) id.ID { return s.ID }),
		each(steps, func(s step) int32 { return s.ToVersion }),
		each(steps, func(s step) string { return string(s.FromStatus) }),
		each(steps, func(s step) string { return string(s.ToStatus) }),
		each(steps, func(s step) string { return string(s.Trigger) }),
		each(steps, func(s step) time.Time { return s.At }),
		each(steps, func(s step) string { return s.Actor }),
		each(steps, func(s step) *string { return jsonOrNull(s.Detail) }),
		each(steps, func(s step) id.ID { return s.EventID }),
		each(steps, func(s step) string { return s.StatusReason }),
		each(steps, func(s step) int64 { return int64(s.CapturedCents) }),
		each(steps, func(s step) id.ID { return s.ClientID }),
		each(steps, func(s step) time.Time { return s.CheckoutStartedAt }),
		each(steps, func(s step) time.Time { return s.ActivatedAt }),
		each(steps, func(s step) time.Time { return s.ExpiresAt }),
		each(steps, func(s step) time.Time { return s.CancelledAt }),
		each(steps, func(s step) time.Time { return s.ClosedAt }),
		each(steps, func(s step) time.Time { return s.CapturedAt }),
		each(steps, func(s step) time.Time { return s.UpdatedAt }),
		len(steps),
	)
}

func jsonOrNull(m map[string]string) *string {
	if m == nil {
		return nil
	}
	s := jsonText(m)
	return &s
}

// queueEvents is AppendEvent of queries/outbox.sql.
func queueEvents(t *pg.Tx, events []sqlc.AppendEventParams) {
	type event = sqlc.AppendEventParams
	t.Appended = true
	t.Queue(`INSERT INTO outbox (event_id, partner_id, name, deposit_id, data, created_at)
		SELECT n.id, n.partner, n.name, n.deposit, n.data, n.created
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[]) AS n(id, partner, name, deposit, data, created)`,
		each(events, func(e event) id.ID { return e.ID }),
		each(events, func(e event) id.ID { return e.PartnerID }),
		each(events, func(e event) string { return string(e.Name) }),
		each(events, func(e event) id.ID { return e.DepositID }),
		each(events, func(e event) string { return e.Data }),
		each(events, func(e event) time.Time { return e.CreatedAt }),
	)
}

// queueResponses is StoreResponse of queries/idempotency.sql.
func queueResponses(t *pg.Tx, responses []sqlc.StoreResponseParams) {
	type response = sqlc.StoreResponseParams
	t.Queue(`INSERT INTO idempotency_keys AS k (partner_id, route, key, fingerprint, status, response, created_at)
		SELECT n.partner, n.route, n.key, n.fingerprint, n.status, n.response, n.created
		FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bytea[], $5::smallint[], $6::bytea[], $7::timestamptz[])
			AS n(partner, route, key, fingerprint, status, response, created)
		ON CONFLICT (partner_id, route, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, status = excluded.status, response = excluded.response, created_at = excluded.created_at
		WHERE k.created_at <= excluded.created_at - $8::interval`,
		each(responses, func(r response) id.ID { return r.PartnerID }),
		each(responses, func(r response) string { return r.Route }),
		each(responses, func(r response) id.ID { return r.Key }),
		each(responses, func(r response) []byte { return r.Fingerprint }),
		each(responses, func(r response) int16 { return r.Status }),
		each(responses, func(r response) []byte { return r.Response }),
		each(responses, func(r response) time.Time { return r.CreatedAt }),
		ports.IdempotencyWindow,
	)
}
