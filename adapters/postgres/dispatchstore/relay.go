package dispatchstore

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// Store holds the dispatcher's queries: few, each over a set of rows, written by hand because their plans matter.
// It implements ports.RelayStore, ports.ClaimStore and ports.WorkStore.
type Store struct {
	pool     *pgxpool.Pool
	cipher   pg.Cipher
	patience time.Duration

	outbox  outboxLooks
	waiting floors[id.ID, time.Time] // of an endpoint, by due_at
	leased  floors[struct{}, int]    // 0: from the start; otherwise what ran out lately
}

// answerWithin is what a question may take, with the wait for a connection. The server gives up on a statement sooner
// (PoolOptions.StatementTimeout); this is for answers that got lost on the way while the connection stays open. Nothing
// else would ever wake the loop that waits for one, and all that it does would stand still.
const answerWithin = 12 * time.Second

// New gives the dispatcher's queries over a pool of its own, opened with postgres.IndexPlans.
func New(pool *pgxpool.Pool, cipher pg.Cipher) *Store {
	return &Store{pool: pool, cipher: cipher, patience: answerWithin}
}

// WithPatience waits d for an answer instead of answerWithin. Call it before the first question.
func (s *Store) WithPatience(d time.Duration) *Store {
	s.patience = d
	return s
}

// bounded is the context of one question, or of one short transaction.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.patience)
}

// Pending reports whether the outbox has anything to relay: the cheap question of an idle relay.
func (s *Store) Pending(ctx context.Context) (bool, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var any bool
	from := s.outbox.begin()
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM outbox WHERE event_id >= least($1, uuid_floor(now() - $2::interval)))`,
		from[:], freshSpan).Scan(&any)
	if err == nil {
		s.outbox.saw(from, any)
	}
	return any, pg.Translate(err)
}

// Relay implements ports.RelayStore.
func (s *Store) Relay(ctx context.Context, limit int, lease time.Duration, plan func([]ports.Event, []ports.Endpoint) []ports.NewDelivery) (relayed int, claims []ports.Claim, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = pg.InTx(ctx, s.pool, func(t *pg.Tx) (err error) {
		defer func() {
			if err != nil {
				s.outbox.failed()
			}
		}()
		relayed, claims = 0, nil
		events, err := s.takeOutbox(ctx, t, limit)
		if err != nil || len(events) == 0 {
			return err
		}
		failpoint.Hit("relay.taken")
		endpoints, err := fileEvents(ctx, t, events)
		if err != nil {
			return err
		}
		relayed = len(events)
		insertDeliveries(t, plan(events, endpoints), lease, &claims)
		failpoint.Hit("relay.writing")
		return t.Commit(ctx)
	})
	if err != nil {
		return 0, nil, err
	}
	return relayed, claims, nil
}

// takeOutbox takes the oldest events, so that nobody's wait for those that keep coming in.
func (s *Store) takeOutbox(ctx context.Context, t *pg.Tx, limit int) (events []ports.Event, err error) {
	from := s.outbox.begin()
	pg.Collect(t, &events, pgx.RowToStructByPos[ports.Event], `
		DELETE FROM outbox WHERE event_id = ANY (ARRAY (
			SELECT event_id FROM outbox WHERE event_id >= least($2, uuid_floor(now() - $3::interval))
			ORDER BY event_id LIMIT $1 FOR UPDATE SKIP LOCKED))
		RETURNING event_id, partner_id, name, deposit_id, data, created_at, committed_at`, limit, from[:], freshSpan)
	if err := t.Flush(ctx); err != nil {
		return nil, err
	}
	s.outbox.took(from, events, limit)
	return events, nil
}

// fileEvents keeps the events and reads the subscriptions of their partners, locked so that none is deleted or disabled
// before the deliveries are in. Whoever does that locks the row FOR UPDATE; noting how an endpoint fares is no such change,
// and neither waits for the other.
func fileEvents(ctx context.Context, t *pg.Tx, events []ports.Event) (endpoints []ports.Endpoint, err error) {
	n := len(events)
	ids, partners, names, deposits := make([]id.ID, n), make([]id.ID, n), make([]string, n), make([]id.ID, n)
	data, at := make([]string, n), make([]time.Time, n)
	for i, e := range events {
		ids[i], partners[i], names[i], deposits[i], data[i], at[i] = e.ID, e.PartnerID, string(e.Name), e.DepositID, string(e.Data), e.CreatedAt
	}
	t.Queue(`INSERT INTO events (id, partner_id, name, deposit_id, data, created_at)
		SELECT e.id, e.partner_id, e.name, nullif(e.deposit_id, '00000000-0000-0000-0000-000000000000'), e.data, e.created_at
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[]) AS e(id, partner_id, name, deposit_id, data, created_at)
		ON CONFLICT (partner_id, id) DO NOTHING`, ids, partners, names, deposits, data, at)
	pg.Collect(t, &endpoints, scanEndpoint, `SELECT `+endpointColumns+` FROM webhook_subscriptions s
		WHERE s.partner_id = ANY ($1) AND s.deleted_at IS NULL ORDER BY s.id FOR KEY SHARE`, distinct(partners))
	return endpoints, t.Flush(ctx)
}

func distinct(ids []id.ID) []id.ID {
	ids = slices.SortedFunc(slices.Values(ids), func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

const endpointColumns = `s.id, s.partner_id, s.events, s.enabled, s.failures, s.failing_since, s.slow, s.quick, s.holds, s.held_until, s.ramp`

func scanEndpoint(row pgx.CollectableRow) (ports.Endpoint, error) {
	var e ports.Endpoint
	var since, held *time.Time
	h := &e.Health
	err := row.Scan(&e.ID, &e.PartnerID, &e.Events, &e.Enabled, &h.Failures, &since, &h.Slow, &h.Quick, &h.Holds, &held, &h.Ramp)
	h.FailingSince, h.HeldUntil = orZero(since), orZero(held)
	return e, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// insertDeliveries queues what was planned; claims has those that were admitted once that is flushed.
func insertDeliveries(t *pg.Tx, planned []ports.NewDelivery, lease time.Duration, claims *[]ports.Claim) {
	if len(planned) == 0 {
		return
	}
	n := len(planned)
	ids, subs, events, deposits := make([]id.ID, n), make([]id.ID, n), make([]id.ID, n), make([]id.ID, n)
	names, bodies, at, created := make([]string, n), make([][]byte, n), make([]time.Time, n), make([]time.Time, n)
	states, parked := make([]int16, n), make([]bool, n)
	for i, d := range planned {
		ids[i], subs[i], events[i], deposits[i] = d.ID, d.Endpoint, d.Source.ID, d.Source.DepositID
		names[i], bodies[i], at[i] = string(d.Event), d.Body, d.Source.CommittedAt
		states[i], parked[i], created[i] = int16(d.State), d.Parked, d.ID.Time()
	}
	t.Queue(`
		INSERT INTO deliveries (id, subscription_id, created_at, event_id, event, deposit_id, state, seq, due_at, body, event_at)
		SELECT n.id, n.sub, n.created_at, n.event_id, n.event, nullif(n.deposit_id, '00000000-0000-0000-0000-000000000000'), n.state, n.state,
			CASE WHEN n.state = 1 THEN now() + $10::interval WHEN NOT n.parked THEN now() END, n.body, n.event_at
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::int2[], $7::bool[], $8::bytea[], $9::timestamptz[], $11::timestamptz[])
			AS n(id, sub, event_id, event, deposit_id, state, parked, body, event_at, created_at)
		ON CONFLICT (subscription_id, id) DO NOTHING
		RETURNING id, subscription_id, seq, state`,
		ids, subs, events, names, deposits, states, parked, bodies, at, lease, created).Query(func(rows pgx.Rows) error {
		var c ports.Claim
		var state webhook.State
		_, err := pgx.ForEachRow(rows, []any{&c.DeliveryID, &c.SubscriptionID, &c.Seq, &state}, func() error {
			if state == webhook.Dispatched {
				*claims = append(*claims, c)
			}
			return nil
		})
		return err
	})
}
