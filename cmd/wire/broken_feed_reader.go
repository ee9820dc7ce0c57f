//go:build broken_feed_reader

package wire

import (
	"context"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// feedReader returns a reader that shows events as soon as they are committed, under the numbers that they would get if no
// change with a lower position were still on its way to its commit.
func feedReader(s Stores) ports.FeedReader { return hasty{s} }

type hasty struct{ stores Stores }

// hastyFeed numbers the rows of the outbox behind the events that have a number.
const hastyFeed = `
	WITH feed AS (SELECT last_sequence FROM event_feeds WHERE partner_id = $1)
	SELECT id, partner_id, name, deposit_id, data, created_at, sequence FROM events WHERE partner_id = $1 AND sequence > $2
	UNION ALL
	SELECT event_id, partner_id, name, deposit_id, data, created_at, (SELECT last_sequence FROM feed) + row_number() OVER (ORDER BY position)
	FROM outbox WHERE partner_id = $1`

func (h hasty) Feed(ctx context.Context, partnerID id.ID) (f ports.FeedState, err error) {
	err = h.stores.Pool.QueryRow(ctx, `SELECT e.epoch, f.oldest_sequence, f.last_sequence + (SELECT count(*) FROM outbox WHERE partner_id = $1)
		FROM event_feeds f CROSS JOIN restore_epoch e WHERE f.partner_id = $1`, partnerID).Scan(&f.Epoch, &f.Oldest, &f.Last)
	return f, err
}

func (h hasty) FeedEvents(ctx context.Context, partnerID id.ID, after int64, limit int) ([]ports.Event, error) {
	rows, err := h.stores.Pool.Query(ctx, `SELECT * FROM (`+hastyFeed+`) AS e WHERE sequence > $2 ORDER BY sequence LIMIT $3`, partnerID, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e ports.Event, err error) {
		err = row.Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.Data, &e.CreatedAt, &e.Sequence)
		return e, err
	})
}

func (h hasty) LastNumbers(ctx context.Context, partnerIDs []id.ID) (map[id.ID]int64, error) {
	last := make(map[id.ID]int64, len(partnerIDs))
	for _, p := range partnerIDs {
		f, err := h.Feed(ctx, p)
		if err != nil {
			return nil, err
		}
		last[p] = f.Last
	}
	return last, nil
}
