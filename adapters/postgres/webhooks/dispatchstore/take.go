package dispatchstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// lockFeeds is the SQL that locks the event counters of partners with events in the outbox, skipping those that
// another dispatcher has locked, and passes the partners to takeEvents by a setting.
const lockFeeds = `
	WITH waiting AS MATERIALIZED (SELECT position, partner_id FROM outbox WHERE position >= $1 ORDER BY position, event_id
	LIMIT $2),
	feeds AS MATERIALIZED (
		SELECT partner_id, last_sequence FROM event_feeds WHERE partner_id = ANY (ARRAY (SELECT DISTINCT partner_id
		FROM waiting))
		FOR NO KEY UPDATE SKIP LOCKED)
	SELECT coalesce(array_agg(partner_id), '{}'), coalesce(array_agg(last_sequence), '{}'),
		set_config('svc.relayed_partners', coalesce(array_agg(partner_id)::text, '{}'), true),
		(SELECT count(*) FROM waiting), (SELECT coalesce(min(position), -1) FROM waiting), (SELECT CASE
		WHEN is_called THEN last_value ELSE 0 END FROM outbox_position),
		pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint
	FROM feeds`

// takeEvents is the SQL that removes the locked partners' first events from the outbox. Its snapshot must be
// younger than the locks of lockFeeds, or events could be missed (ADR 0016).
const takeEvents = `
	DELETE FROM outbox WHERE ctid = ANY (ARRAY (
		SELECT ctid FROM outbox WHERE position >= $1
		AND partner_id = ANY ((SELECT current_setting('svc.relayed_partners')::uuid[])::uuid[])
		ORDER BY position, event_id LIMIT $2))
	RETURNING event_id, partner_id, name, deposit_id, data, created_at, committed_at, position,
		coalesce(trace_parent, ''), coalesce(request_id, '')`

// readSubscriptions is the SQL that reads the partners' subscriptions, locked against deletion and disabling
// until deliveries are inserted.
const readSubscriptions = `
	SELECT ` + subscriptionColumns + `, s.url, s.standard, s.secret, clock_timestamp() FROM webhook_subscriptions s
	WHERE s.partner_id = ANY ((SELECT current_setting('svc.relayed_partners')::uuid[])::uuid[]) AND s.deleted_at IS NULL
	ORDER BY s.partner_id, s.id FOR KEY SHARE`

// widerLook is the factor by which more of the outbox is read when its first events all belong to locked
// partners.
const widerLook = 32

// batch is the part of the outbox that a dispatcher processes in a single transaction.
type batch struct {
	// The events that the transaction took, in the order of their writing.
	events        []ports.Event
	last          lastNumbers // The last event number of each partner whose event counter is locked.
	subscriptions []webhookports.Subscription
	// What deliveries need of their subscription, such as the URL, by the subscription's id.
	targets map[id.ID]target
	readAt  time.Time // A time just before the transaction read the partners' subscriptions.
}

// takeOutbox locks the event counters of partners with events in the outbox, takes their oldest events, and
// reads their subscriptions in the same round trip.
func (s *Store) takeOutbox(ctx context.Context, t *pg.Tx, limit int) (batch, error) {
	taken, waiting, err := s.take(ctx, t, limit, limit)
	if err == nil && len(taken.last) == 0 && waiting == limit {
		taken, _, err = s.take(ctx, t, limit, limit*widerLook)
	}
	return taken, err
}

// take removes up to limit events of unlocked partners from the outbox. waiting counts those among its first
// look rows.
func (s *Store) take(ctx context.Context, t *pg.Tx, limit, look int) (b batch, waiting int, err error) {
	b = batch{last: lastNumbers{}, targets: map[id.ID]target{}, readAt: time.Now()}
	var partners []id.ID
	var numbers []int64
	var told string
	view := s.outbox.look(s.pool.Stat().NewConnsCount())
	found := t.QueueRow(lockFeeds, []any{view.from, look}, &partners, &numbers, &told, &waiting, &view.first, &view.last,
		&view.xmin, &view.xmax)
	var rows []taken
	pg.QueueRowsInto(t, &rows, scanTaken, takeEvents, view.from, limit)
	pg.QueueRowsInto(t, &b.subscriptions, b.scanTarget, readSubscriptions)
	if err := cmp.Or(t.Flush(ctx), *found); err != nil {
		return batch{}, 0, err
	}
	s.outbox.saw(view)
	slices.SortFunc(rows, func(a, b taken) int {
		return cmp.Or(cmp.Compare(a.position, b.position), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for _, row := range rows {
		b.events = append(b.events, row.Event)
	}
	for i, p := range partners {
		b.last[p] = numbers[i]
	}
	return b, waiting, nil
}

// taken is an event taken from the outbox, with its position there.
type taken struct {
	ports.Event
	position int64
}

func scanTaken(row pgx.CollectableRow) (e taken, err error) {
	err = row.Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.Data, &e.CreatedAt, &e.CommittedAt, &e.position,
		&e.TraceParent, &e.RequestID)
	return e, err
}

// scanTarget scans a subscription and stores what its deliveries need, such as the URL.
func (b *batch) scanTarget(row pgx.CollectableRow) (webhookports.Subscription, error) {
	var to target
	var now time.Time
	sub, err := scanSubscription(row, &to.url, &to.standard, &to.sealed, &now)
	to.skew = time.Until(now)
	b.targets[sub.ID] = to
	return sub, err
}

// lastNumbers holds, by partner, the last number given to an event.
type lastNumbers map[id.ID]int64

// number gives each event the next number of its partner, in the order of the events.
func (l lastNumbers) number(events []ports.Event) {
	for i := range events {
		e := &events[i]
		l[e.PartnerID]++
		e.Sequence = l[e.PartnerID]
	}
}

func (l lastNumbers) store(t *pg.Tx) {
	partners, numbers := make([]id.ID, 0, len(l)), make([]int64, 0, len(l))
	for p, n := range l {
		partners, numbers = append(partners, p), append(numbers, n)
	}
	t.Queue(
		`UPDATE event_feeds SET last_sequence = ($2::bigint[])[array_position($1::uuid[], partner_id)]
			WHERE partner_id = ANY ($1)`,
		partners, numbers)
}
