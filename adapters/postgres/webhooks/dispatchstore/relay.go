package dispatchstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

func (s *Store) OutboxPending(ctx context.Context) (pending bool, waited time.Duration, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	from := s.outbox.ask()
	err = s.pool.QueryRow(ctx, `SELECT clock_timestamp() - committed_at FROM outbox WHERE position >= $1
		ORDER BY position, event_id LIMIT 1`, from).Scan(&waited)
	if pending = err == nil; errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	s.outbox.answered(from, pending)
	return pending, waited, pg.Translate(err)
}

func (s *Store) Relay(ctx context.Context, limit int, lease time.Duration, plan webhookports.PlanDeliveriesFunc) (
	relayed int, claims []webhookports.Claim, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var taken batch
	var planned []webhookports.Delivery
	err = pg.RunInTx(ctx, s.pool, func(t *pg.Tx) (err error) {
		relayed, claims = 0, nil
		taken, err = s.takeOutbox(ctx, t, limit)
		if err != nil || len(taken.events) == 0 {
			return err
		}
		failpoint.Hit("relay.taken")
		taken.last.number(taken.events)
		relayed = len(taken.events)
		if planned, err = planSafely(plan, taken.events, taken.subscriptions); err != nil {
			return err
		}
		taken.last.store(t)
		insertEvents(t, taken.events)
		insertDeliveries(t, planned, lease, &claims)
		failpoint.Hit("relay.writing")
		return t.Commit(ctx)
	})
	if err != nil {
		return 0, nil, refusedEvents(err, taken.events)
	}
	s.relayed.keep(claims, planned, taken, lease)
	return relayed, claims, nil
}

// insertEvents queues the insert of events into each partner's numbered list.
func insertEvents(t *pg.Tx, events []ports.Event) {
	n := len(events)
	ids, partners, names, deposits := make([]id.ID, n), make([]id.ID, n), make([]string, n), make([]id.ID, n)
	data, at, numbers := make([]string, n), make([]time.Time, n), make([]int64, n)
	for i, e := range events {
		ids[i], partners[i], names[i], deposits[i], data[i], at[i] = e.ID, e.PartnerID, string(e.Name), e.DepositID,
			string(e.Data), e.CreatedAt
		numbers[i] = e.Sequence
	}
	// Fail for an event that the table contains: skipping it would leave a gap in the partner's numbers.
	t.Queue(`INSERT INTO events (id, partner_id, name, deposit_id, data, created_at, sequence)
		SELECT e.id, e.partner_id, e.name, nullif(e.deposit_id, '00000000-0000-0000-0000-000000000000'), e.data, e.created_at,
		e.sequence
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[], $7::bigint[])
			AS e(id, partner_id, name, deposit_id, data, created_at, sequence)`, ids, partners, names, deposits, data, at,
		numbers)
}

// insertDeliveries queues the insert of planned deliveries. When it is sent, claims is set to those of
// deliveries sent at once.
func insertDeliveries(t *pg.Tx, planned []webhookports.Delivery, lease time.Duration, claims *[]webhookports.Claim) {
	if len(planned) == 0 {
		return
	}
	n := len(planned)
	ids, subs, events, deposits := make([]id.ID, n), make([]id.ID, n), make([]id.ID, n), make([]id.ID, n)
	names, bodies, at, created := make([]string, n), make([][]byte, n), make([]time.Time, n), make([]time.Time, n)
	states, parked, traces, requests := make([]int16, n), make([]bool, n), make([]string, n), make([]string, n)
	for i, d := range planned {
		ids[i], subs[i], events[i], deposits[i] = d.DeliveryID, d.SubscriptionID, d.EventID, d.DepositID
		names[i], bodies[i], at[i] = string(d.Event), d.Body, d.EventAt
		states[i], parked[i], created[i] = int16(d.State), d.Parked, d.DeliveryID.Time()
		traces[i], requests[i] = d.TraceParent, d.RequestID
	}
	t.Queue(`
		INSERT INTO deliveries (id, subscription_id, created_at, event_id, event, deposit_id, state, seq, due_at, body,
			event_at, trace_parent, request_id)
		SELECT n.id, n.sub, n.created_at, n.event_id, n.event, nullif(n.deposit_id, '00000000-0000-0000-0000-000000000000'),
		n.state, n.state,
			CASE WHEN n.state = 1 THEN now() + $10::interval WHEN NOT n.parked THEN now() END, n.body,
			n.event_at, nullif(n.trace_parent, ''), nullif(n.request_id, '')
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::int2[], $7::bool[], $8::bytea[],
				$9::timestamptz[], $11::timestamptz[], $12::varchar[], $13::text[])
			AS n(id, sub, event_id, event, deposit_id, state, parked, body, event_at, created_at, trace_parent, request_id)
		ON CONFLICT (subscription_id, id) DO NOTHING
		RETURNING id, subscription_id, seq, event_at, state`,
		ids, subs, events, names, deposits, states, parked, bodies, at, lease, created, traces, requests,
	).Query(func(rows pgx.Rows) error {
		var c webhookports.Claim
		var state webhook.DeliveryState
		_, err := pgx.ForEachRow(rows, []any{&c.DeliveryID, &c.SubscriptionID, &c.Seq, &c.DueAt, &state}, func() error {
			if state == webhook.DeliveryStateDispatched {
				*claims = append(*claims, c)
			}
			return nil
		})
		return err
	})
}
