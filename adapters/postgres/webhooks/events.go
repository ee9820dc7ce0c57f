package webhooks

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// idsDiffer is the greatest difference between the time in an event's id and its created_at, which come from
// different clocks.
const idsDiffer = "interval '1 hour'"

// Events returns a page of a partner's events; a deposit's are found by its history.
func (s EventStore) Events(ctx context.Context, partnerID id.ID, f webhookports.EventFilter,
	page ports.Page) (ports.ListPage[ports.Event], error) {
	l := &lists.PageQuery{Table: "events", Identity: []string{"partner_id", "id"}, Order: []string{"id"}}
	l.Where("partner_id = ?", partnerID)
	if !f.DepositID.IsZero() {
		l.Where("id = ANY (ARRAY (SELECT event_id FROM deposit_transitions WHERE deposit_id = ? AND event_id IS NOT NULL))",
			f.DepositID)
	}
	if f.Name != "" {
		l.Filter("name = ?", f.Name)
	}
	if !f.Created.From.IsZero() {
		l.Where("id >= uuid_floor(greatest(?::timestamptz - "+idsDiffer+", timestamptz 'epoch'))", f.Created.From)
		l.Filter("created_at >= ?", f.Created.From)
	}
	if !f.Created.To.IsZero() {
		l.Where("id < uuid_floor(greatest(?::timestamptz + "+idsDiffer+", timestamptz 'epoch'))", f.Created.To)
		l.Filter("created_at < ?", f.Created.To)
	}
	l.AfterCursor(page.Cursor)
	sql := "SELECT id, partner_id, name, deposit_id, data, created_at, coalesce(sequence, 0), fits, n FROM " +
		l.RowsExpression(page) + " AS e ORDER BY id DESC"
	return lists.ReadPage(ctx, s.DB, l, page, sql, func(row pgx.CollectableRow) (r lists.PageCandidateRow[ports.Event],
		err error) {
		err = scanEvent(row, &r.Item, &r.Fits, &r.N)
		return r, err
	}, func(e ports.Event) ports.Cursor { return ports.Cursor{At: e.CreatedAt, ID: e.ID} })
}

func (s EventStore) Event(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error) {
	row, err := queries.EventOfPartner(ctx, s.DB, partnerID, eventID)
	return ports.Event{
		ID: row.ID, PartnerID: row.PartnerID, Name: row.Name, DepositID: row.DepositID, Data: row.Data,
		CreatedAt: row.CreatedAt, Sequence: row.Sequence,
	}, pg.ReplaceErrNoRows(err, webhook.ErrEventNotFound)
}

// scanEvent scans the columns of an event, and further columns into more. Data that is not JSON is an
// unreadable row.
func scanEvent(row pgx.CollectableRow, e *ports.Event, more ...any) error {
	err := row.Scan(append([]any{&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.Data, &e.CreatedAt, &e.Sequence},
		more...)...)
	if err == nil && !json.Valid(e.Data) {
		return pg.BadValueError("data", errNotJSON)
	}
	return err
}

var errNotJSON = errors.New("is not JSON")

func (s EventStore) FeedState(ctx context.Context, partnerID id.ID) (webhookports.FeedState, error) {
	row, err := queries.FeedState(ctx, s.DB, partnerID)
	return webhookports.FeedState{Epoch: row.Epoch, Oldest: row.OldestSequence, Last: row.LastSequence}, err
}

// feedEvents is the SQL that reads a partner's next events after a number. The bounds of ids are values, so
// that Postgres plans for their partitions only.
const feedEvents = `SELECT id, partner_id, name, deposit_id, data, created_at, coalesce(sequence, 0)::bigint FROM events
	WHERE partner_id = $1 AND sequence > $2 AND id >= $3 AND id < $4 ORDER BY sequence LIMIT $5`

// FeedEvents returns the events after a number of a partner's feed. A first query reads the last partitions;
// after a gap in the numbers all are read.
func (s EventStore) FeedEvents(ctx context.Context, partnerID id.ID, after int64, limit int) ([]ports.Event, error) {
	const day = 24 * time.Hour
	today := time.Now().Truncate(day)
	for _, days := range [][2]id.ID{{firstOf(today.Add(-day)), firstOf(today.Add(2 * day))}, {firstID, lastID}} {
		events, err := pg.ReadRows(ctx, s.DB, func(row pgx.CollectableRow) (e ports.Event, err error) {
			err = scanEvent(row, &e)
			return e, err
		}, func(e *ports.Event, err error) {
			e.Data = nil
			s.DB.ReportUnreadableRow(ctx, "events", e.ID, err)
		}, feedEvents, partnerID, after, days[0], days[1], limit)
		if err != nil || follow(events, after) {
			return events, err
		}
	}
	return nil, nil
}

// The ids below and above every id with a time. The zero id cannot be used, since it would be NULL.
var (
	firstID = id.ID{15: 1}
	lastID  = id.ID{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff, 4: 0xff, 5: 0xff, 6: 0xff, 7: 0xff}
)

// firstOf returns the least UUID v7 of an instant, as the database function uuid_floor does.
func firstOf(at time.Time) (first id.ID) {
	binary.BigEndian.PutUint64(first[:8], uint64(at.UnixMilli())<<16)
	return first
}

// follow reports whether the events are numbered without a gap from the number after; false for no events.
func follow(events []ports.Event, after int64) bool {
	for _, e := range events {
		if after++; e.Sequence != after {
			return false
		}
	}
	return len(events) > 0
}

func (s EventStore) LastFeedNumbers(ctx context.Context, partnerIDs []id.ID) (map[id.ID]int64, error) {
	rows, err := queries.LastNumbers(ctx, s.DB, partnerIDs)
	last := make(map[id.ID]int64, len(rows))
	for _, row := range rows {
		last[row.PartnerID] = row.LastSequence
	}
	return last, err
}

// FindEvent returns the event with an id, looked up for each partner in the partition of the id's day, and in
// the outbox.
func (s EventStore) FindEvent(ctx context.Context, eventID id.ID) (e webhookports.EventView, err error) {
	err = s.DB.QueryRow(ctx, `
		SELECT event_id, partner_id, name, deposit_id, created_at, 'outbox', '' FROM outbox WHERE position >= 0
		AND event_id = $1
		UNION ALL SELECT event_id, partner_id, name, deposit_id, created_at, 'set_aside', reason FROM outbox_set_aside
		WHERE event_id = $1
		UNION ALL SELECT e.id, e.partner_id, e.name, e.deposit_id, e.created_at, 'filed', ''
			FROM partners p CROSS JOIN LATERAL (SELECT * FROM events e WHERE e.partner_id = p.id AND e.id = $1 OFFSET 0) AS e
		LIMIT 1`, eventID).Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.CreatedAt, &e.Place, &e.Reason)
	return e, pg.ReplaceErrNoRows(err, webhook.ErrEventNotFound)
}
