package dispatchstore

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// Store implements ports.RelayStore, ports.ClaimStore and ports.WorkStore. Each query works on a set of rows and is written
// by hand, because its plan matters.
type Store struct {
	pool    *pgxpool.Pool
	cipher  pg.Cipher
	timeout time.Duration

	outbox  outboxWatermark
	waiting watermarks[id.ID, time.Time] // due_at of waiting deliveries, by subscription
	leased  watermarks[struct{}, int]    // 0: all leased deliveries; 1: those whose lease ended within expiredSpan
}

// queryTimeout bounds a query with the wait for a connection. The server's own limit (PoolOptions.StatementTimeout) is
// shorter. queryTimeout is for a response that is lost while the connection stays open: without it, the loop that waits
// for the response would wait for ever.
const queryTimeout = 12 * time.Second

// New returns a store over a pool of its own, opened with postgres.IndexPlans.
func New(pool *pgxpool.Pool, cipher pg.Cipher) *Store {
	return &Store{pool: pool, cipher: cipher, timeout: queryTimeout}
}

// WithTimeout replaces queryTimeout. Call it before the first query.
func (s *Store) WithTimeout(d time.Duration) *Store {
	s.timeout = d
	return s
}

// bounded returns the context of a query or a short transaction.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

// Pending implements ports.RelayStore.
func (s *Store) Pending(ctx context.Context) (bool, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var pending bool
	low := s.outbox.start()
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM outbox WHERE event_id >= least($1, uuid_floor(now() - $2::interval)))`,
		low[:], recentSpan).Scan(&pending)
	if err == nil {
		s.outbox.saw(low, pending)
	}
	return pending, pg.Translate(err)
}

// Relay implements ports.RelayStore.
func (s *Store) Relay(ctx context.Context, limit int, lease time.Duration, plan func([]ports.Event, []ports.Subscription) []ports.Delivery) (relayed int, claims []ports.Claim, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var events []ports.Event
	err = pg.InTx(ctx, s.pool, func(t *pg.Tx) (err error) {
		defer func() {
			if err != nil {
				s.outbox.reset()
			}
		}()
		relayed, claims = 0, nil
		events, err = s.takeOutbox(ctx, t, limit)
		if err != nil || len(events) == 0 {
			return err
		}
		failpoint.Hit("relay.taken")
		subscriptions, err := storeEvents(ctx, t, events)
		if err != nil {
			return err
		}
		relayed = len(events)
		planned, err := planSafely(plan, events, subscriptions)
		if err != nil {
			return err
		}
		insertDeliveries(t, planned, lease, &claims)
		failpoint.Hit("relay.writing")
		return t.Commit(ctx)
	})
	if err != nil {
		return 0, nil, refusedEvents(err, events)
	}
	return relayed, claims, nil
}

// takeOutbox removes the oldest events from the outbox, so that newer events cannot delay them.
func (s *Store) takeOutbox(ctx context.Context, t *pg.Tx, limit int) (events []ports.Event, err error) {
	low := s.outbox.start()
	pg.Collect(t, &events, pgx.RowToStructByPos[ports.Event], `
		DELETE FROM outbox WHERE event_id = ANY (ARRAY (
			SELECT event_id FROM outbox WHERE event_id >= least($2, uuid_floor(now() - $3::interval))
			ORDER BY event_id LIMIT $1 FOR UPDATE SKIP LOCKED))
		RETURNING event_id, partner_id, name, deposit_id, data, created_at, committed_at`, limit, low[:], recentSpan)
	if err := t.Flush(ctx); err != nil {
		return nil, err
	}
	s.outbox.took(low, events, limit)
	return events, nil
}

// storeEvents inserts the events and reads the subscriptions of their partners. The row locks keep a subscription from being
// deleted or disabled before its deliveries are inserted. Those changes lock the row FOR UPDATE; a change of health does
// not, and so never waits for a relay.
func storeEvents(ctx context.Context, t *pg.Tx, events []ports.Event) (subscriptions []ports.Subscription, err error) {
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
	pg.Collect(t, &subscriptions, scanSubscription, `SELECT `+subscriptionColumns+` FROM webhook_subscriptions s
		WHERE s.partner_id = ANY ($1) AND s.deleted_at IS NULL ORDER BY s.id FOR KEY SHARE`, distinct(partners))
	return subscriptions, t.Flush(ctx)
}

func distinct(ids []id.ID) []id.ID {
	ids = slices.SortedFunc(slices.Values(ids), func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

const subscriptionColumns = `s.id, s.partner_id, s.events, s.enabled, s.failures, s.failing_since, s.slow, s.quick, s.holds, s.held_until, s.ramp`

func scanSubscription(row pgx.CollectableRow) (ports.Subscription, error) {
	var s ports.Subscription
	var since, openUntil *time.Time
	h := &s.Health
	err := row.Scan(&s.ID, &s.PartnerID, &s.Events, &s.Enabled, &h.Failures, &since, &h.Slow, &h.Quick, &h.FailedProbes, &openUntil, &h.Ramp)
	h.FailingSince, h.OpenUntil = orZero(since), orZero(openUntil)
	return s, err
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

// insertDeliveries queues the statement that inserts planned deliveries. After the flush, claims has the dispatched ones.
func insertDeliveries(t *pg.Tx, planned []ports.Delivery, lease time.Duration, claims *[]ports.Claim) {
	if len(planned) == 0 {
		return
	}
	n := len(planned)
	ids, subs, events, deposits := make([]id.ID, n), make([]id.ID, n), make([]id.ID, n), make([]id.ID, n)
	names, bodies, at, created := make([]string, n), make([][]byte, n), make([]time.Time, n), make([]time.Time, n)
	states, parked := make([]int16, n), make([]bool, n)
	for i, d := range planned {
		ids[i], subs[i], events[i], deposits[i] = d.DeliveryID, d.SubscriptionID, d.EventID, d.DepositID
		names[i], bodies[i], at[i] = string(d.Event), d.Body, d.EventAt
		states[i], parked[i], created[i] = int16(d.State), d.Parked, d.DeliveryID.Time()
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

// recentSpan is the span of ids that every scan of the outbox covers. An older row exists only when no relay ran meanwhile,
// when its transaction took that long, or when its writer's clock is slow.
const recentSpan = 5 * time.Second

// recent is the watermark of a scan that covers recentSpan only.
var recent = id.ID(bytes.Repeat([]byte{0xff}, len(id.ID{})))

// outboxWatermark is the low watermark of the outbox: recent while the relay keeps up, and the first id of the batch before
// while there is a backlog. The scan starts at the beginning every fullEvery, and when a full batch of recent events shows
// that there may be a backlog.
type outboxWatermark struct {
	mu   sync.Mutex
	low  id.ID
	full time.Time // the last full scan
}

// start returns the lowest id of the next scan. The zero value stands for the beginning of the outbox.
func (w *outboxWatermark) start() (low id.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.full) >= fullEvery {
		w.full = now
		return low
	}
	return w.low
}

// took sets the watermark after a scan from low that took events, at most limit.
func (w *outboxWatermark) took(low id.ID, events []ports.Event, limit int) {
	next := recent
	if len(events) == limit {
		next = lowestID(events)
		if low == recent { // older events may exist
			next = id.ID{}
		}
	}
	w.set(next)
}

// saw sets the watermark after a scan from low that took nothing: pending events are taken by a scan from low.
func (w *outboxWatermark) saw(low id.ID, pending bool) {
	if !pending {
		low = recent
	}
	w.set(low)
}

// reset starts the next scan at the beginning, because a failed relay put its events back.
func (w *outboxWatermark) reset() { w.set(id.ID{}) }

func (w *outboxWatermark) set(low id.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.low = low
}

func lowestID(events []ports.Event) (lowest id.ID) {
	for i, e := range events {
		if i == 0 || bytes.Compare(e.ID[:], lowest[:]) < 0 {
			lowest = e.ID
		}
	}
	return lowest
}
