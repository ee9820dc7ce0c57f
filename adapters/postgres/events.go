package postgres

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// eventColumns are the columns that scanEvent reads.
const eventColumns = `id, partner_id, name, deposit_id, data, created_at, coalesce(sequence, 0)`

func scanEvent(row pgx.CollectableRow) (e ports.Event, err error) {
	err = row.Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.Data, &e.CreatedAt, &e.Sequence)
	return e, err
}

// idsDiffer bounds the time between created_at of an event and its id, which another clock makes.
const idsDiffer = "interval '1 hour'"

// Events implements ports.EventReader. The history of a deposit names its events, so events need no index of deposits.
func (s *Store) Events(ctx context.Context, partnerID id.ID, f ports.EventFilter, page ports.Page) (ports.List[ports.Event], error) {
	l := &list{table: "events", identity: []string{"partner_id", "id"}, order: []string{"id"}}
	l.where("partner_id = ?", partnerID)
	if !f.DepositID.IsZero() {
		l.where("id = ANY (ARRAY (SELECT event_id FROM deposit_transitions WHERE deposit_id = ? AND event_id IS NOT NULL))", f.DepositID)
	}
	if f.Name != "" {
		l.filter("name = ?", f.Name)
	}
	if !f.Created.From.IsZero() {
		l.where("id >= uuid_floor(greatest(?::timestamptz - "+idsDiffer+", timestamptz 'epoch'))", f.Created.From)
		l.filter("created_at >= ?", f.Created.From)
	}
	if !f.Created.To.IsZero() {
		l.where("id < uuid_floor(greatest(?::timestamptz + "+idsDiffer+", timestamptz 'epoch'))", f.Created.To)
		l.filter("created_at < ?", f.Created.To)
	}
	l.after(page.Cursor)
	sql := "SELECT " + eventColumns + ", fits, n FROM " + l.rows(page) + " AS e ORDER BY id DESC"
	return read(ctx, s.db, l, page, sql, func(row pgx.CollectableRow) (r listed[ports.Event], err error) {
		e := &r.item
		err = row.Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.Data, &e.CreatedAt, &e.Sequence, &r.fits, &r.n)
		return r, err
	}, func(e ports.Event) ports.Cursor { return ports.Cursor{At: e.CreatedAt, ID: e.ID} })
}

// Event implements ports.EventReader.
func (s *Store) Event(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error) {
	rows, err := s.db.Query(ctx, `SELECT `+eventColumns+` FROM events WHERE partner_id = $1 AND id = $2`, partnerID, eventID)
	if err != nil {
		return ports.Event{}, err
	}
	e, err := pgx.CollectExactlyOneRow(rows, scanEvent)
	return e, pg.OrNotFound(pg.Translate(err), webhook.ErrEventNotFound)
}

// Feed implements ports.FeedReader.
func (s *Store) Feed(ctx context.Context, partnerID id.ID) (f ports.FeedState, err error) {
	err = s.db.QueryRow(ctx, `SELECT e.epoch, f.oldest_sequence, f.last_sequence FROM event_feeds f CROSS JOIN restore_epoch e WHERE f.partner_id = $1`, partnerID).
		Scan(&f.Epoch, &f.Oldest, &f.Last)
	return f, pg.Translate(err)
}

// feedQuery reads a part of a feed in the partitions of some days. The bounds of a day are those of its partition: with a bound inside a
// partition, the index of numbers would lead to all earlier rows of that day. The bounds are values and not now(), so that Postgres plans
// for these partitions alone.
const feedQuery = `SELECT ` + eventColumns + ` FROM events WHERE partner_id = $1 AND sequence > $2 AND id >= $3 AND id < $4 ORDER BY sequence LIMIT $5`

// FeedEvents implements ports.FeedReader. A partner that follows its feed asks for events of today, so the first query reads
// the last partitions alone. The numbers tell whether it has missed events of older partitions, or of a clock that is ahead.
func (s *Store) FeedEvents(ctx context.Context, partnerID id.ID, after int64, limit int) ([]ports.Event, error) {
	const day = 24 * time.Hour
	today := time.Now().Truncate(day)
	for _, days := range [][2]id.ID{{firstOf(today.Add(-day)), firstOf(today.Add(2 * day))}, {firstID, lastID}} {
		rows, err := s.db.Query(ctx, feedQuery, partnerID, after, days[0], days[1], limit)
		if err != nil {
			return nil, err
		}
		events, err := pgx.CollectRows(rows, scanEvent)
		if err != nil {
			return nil, pg.Translate(err)
		}
		if follow(events, after) {
			return events, nil
		}
	}
	return nil, nil
}

// Bounds around every id that has a time. The zero id would be NULL.
var (
	firstID = id.ID{15: 1}
	lastID  = id.ID{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff, 4: 0xff, 5: 0xff, 6: 0xff, 7: 0xff}
)

// firstOf is the least UUID v7 of an instant, as the function uuid_floor of the database.
func firstOf(at time.Time) (first id.ID) {
	binary.BigEndian.PutUint64(first[:8], uint64(at.UnixMilli())<<16)
	return first
}

// follow reports whether the events have the numbers after, without a gap.
func follow(events []ports.Event, after int64) bool {
	for _, e := range events {
		if after++; e.Sequence != after {
			return false
		}
	}
	return len(events) > 0
}

// LastNumbers implements ports.FeedReader.
func (s *Store) LastNumbers(ctx context.Context, partnerIDs []id.ID) (map[id.ID]int64, error) {
	rows, err := s.db.Query(ctx, `SELECT partner_id, last_sequence FROM event_feeds WHERE partner_id = ANY ($1)`, partnerIDs)
	if err != nil {
		return nil, err
	}
	last := make(map[id.ID]int64, len(partnerIDs))
	var partner id.ID
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&partner, &n}, func() error {
		last[partner] = n
		return nil
	})
	return last, pg.Translate(err)
}
