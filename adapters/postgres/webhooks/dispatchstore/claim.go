package dispatchstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// FindDue returns the subscriptions with due deliveries, and the time until the next. It steps through the
// index from subscription to subscription; OFFSET 0 and LIMIT keep the planner from reading all.
func (s *Store) FindDue(ctx context.Context, horizon time.Duration) (webhookports.DueScanResult, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	due, full := webhookports.DueScanResult{Next: horizon}, s.leased.start(struct{}{}) == 0
	var tests, expired bool
	looks := &pgx.Batch{}
	looks.Queue(`
		WITH RECURSIVE waiting(id) AS (
			(SELECT subscription_id FROM deliveries WHERE state = 0 AND due_at IS NOT NULL ORDER BY subscription_id LIMIT 1)
			UNION ALL
			SELECT (SELECT d.subscription_id FROM deliveries d WHERE d.state = 0 AND d.due_at IS NOT NULL
			AND d.subscription_id > w.id
				ORDER BY d.subscription_id LIMIT 1)
			FROM waiting w WHERE w.id IS NOT NULL)
		SELECT `+subscriptionColumns+`, oldest.due_at - now()
		FROM waiting w CROSS JOIN LATERAL (SELECT * FROM webhook_subscriptions l WHERE l.id = w.id OFFSET 0) s
		CROSS JOIN LATERAL (SELECT d.due_at FROM deliveries d
			WHERE d.subscription_id = w.id AND d.state = 0 AND d.due_at <= now() + $1::interval ORDER BY d.due_at LIMIT 1) oldest
		WHERE s.enabled AND s.deleted_at IS NULL`, horizon).Query(func(rows pgx.Rows) error { return collectDue(rows, &due) })
	looks.Queue(`
		SELECT EXISTS (SELECT FROM (SELECT due_at FROM deliveries WHERE test AND state = 0 OFFSET 0) t
		WHERE t.due_at <= now()),
			EXISTS (SELECT FROM deliveries WHERE state = 1 AND due_at <= now()
				AND due_at >= CASE WHEN $1 THEN '-infinity'::timestamptz ELSE now() - $2::interval END)`,
		full, expiredSpan).QueryRow(func(row pgx.Row) error { return row.Scan(&tests, &expired) })
	if err := s.pool.SendBatch(ctx, looks).Close(); err != nil {
		return due, pg.Translate(err)
	}
	due.Urgent = tests || expired
	// Make the next ClaimUrgent scan the index of ended leases from its beginning too if this full scan found some.
	s.leased.set(struct{}{}, 1, !(full && expired))
	return due, nil
}

func collectDue(rows pgx.Rows, due *webhookports.DueScanResult) error {
	for rows.Next() {
		var wait time.Duration
		s, err := scanSubscription(rows, &wait)
		if err != nil {
			return err
		}
		if wait > 0 {
			due.Next = min(due.Next, wait)
		} else {
			due.Subscriptions = append(due.Subscriptions, s)
		}
	}
	return rows.Err()
}

func (s *Store) ClaimDue(ctx context.Context, rooms []webhookports.ClaimQuota,
	lease time.Duration) ([]webhookports.Claim, error) {
	if len(rooms) == 0 {
		return nil, nil
	}
	subs, room, low := make([]id.ID, len(rooms)), make([]int32, len(rooms)), make([]time.Time, len(rooms))
	for i, r := range rooms {
		subs[i], room[i] = r.SubscriptionID, int32(min(r.Room, 1<<20)) //nolint:gosec // bounded on the line
		low[i] = s.waiting.start(r.SubscriptionID)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `
		UPDATE deliveries d SET state = 1, seq = d.seq + 1, due_at = now() + $3::interval
		FROM unnest($1::uuid[], $2::int4[], $4::timestamptz[]) AS r(sub, room, low)
		CROSS JOIN LATERAL (
			SELECT w.id, w.due_at FROM deliveries w WHERE w.subscription_id = r.sub AND w.state = 0 AND w.due_at <= now()
				AND w.due_at >= coalesce(r.low, '-infinity')
			ORDER BY w.due_at LIMIT r.room FOR UPDATE SKIP LOCKED) due
		WHERE d.subscription_id = r.sub AND d.id = due.id
		RETURNING d.id, d.subscription_id, d.seq, `+requested+`, due.due_at`, subs, room, lease, low)
	if err != nil {
		return nil, pg.Translate(err)
	}
	var due time.Time
	lowest := map[id.ID]time.Time{}
	claims, err := readClaims(rows, func(c *webhookports.Claim) {
		if l, known := lowest[c.SubscriptionID]; !known || due.Before(l) {
			lowest[c.SubscriptionID] = due
		}
	}, &due)
	for _, sub := range subs {
		l, found := lowest[sub]
		s.waiting.set(sub, l, found)
	}
	return claims, pg.Translate(err)
}

// expiredSpan is how far back most scans search for deliveries whose lease has ended; full scans find older
// ones.
const expiredSpan = 5 * time.Second

func (s *Store) ClaimUrgent(ctx context.Context, limit int,
	lease time.Duration) (claims []webhookports.Claim, recovered int, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `
		WITH tests AS (
			SELECT subscription_id, id FROM deliveries WHERE test AND state = 0 AND due_at <= now() ORDER BY id LIMIT $1
			FOR UPDATE SKIP LOCKED),
		expired AS (
			SELECT subscription_id, id FROM deliveries WHERE state = 1 AND due_at <= now()
				AND due_at >= CASE WHEN $3 THEN '-infinity'::timestamptz ELSE now() - $4::interval END
			ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED),
		urgent AS (SELECT *, false AS recovered FROM tests UNION ALL SELECT *, true FROM expired)
		UPDATE deliveries d SET state = 1, seq = d.seq + 1, due_at = now() + $2::interval
		FROM urgent u WHERE d.subscription_id = u.subscription_id AND d.id = u.id
		RETURNING d.id, d.subscription_id, d.seq, `+requested+`, u.recovered,
			(SELECT s.partner_id FROM webhook_subscriptions s WHERE s.id = d.subscription_id)`,
		limit, lease, s.leased.start(struct{}{}) == 0, expiredSpan)
	if err != nil {
		return nil, 0, pg.Translate(err)
	}
	var again bool
	var partner id.ID
	claims, err = readClaims(rows, func(c *webhookports.Claim) {
		c.PartnerID = partner
		if again {
			recovered++
		}
	}, &again, &partner)
	s.leased.set(struct{}{}, 1, err == nil)
	return claims, recovered, pg.Translate(err)
}

// requested is the SQL of webhookports.Claim.Requested: whether a person or the partner requested the delivery.
const requested = `d.test OR d.redelivery_of IS NOT NULL`

// readClaims reads claimed deliveries. Before note is called for a row, its further columns are scanned into
// extra.
func readClaims(rows pgx.Rows, note func(*webhookports.Claim), extra ...any) (claims []webhookports.Claim, err error) {
	var c webhookports.Claim
	_, err = pgx.ForEachRow(rows,
		append([]any{&c.DeliveryID, &c.SubscriptionID, &c.Seq, &c.Requested}, extra...), func() error {
			claims = append(claims, c)
			note(&claims[len(claims)-1])
			return nil
		})
	return claims, err
}

var countClaimed = `
		SELECT subscription_id, count(*) FROM deliveries
		WHERE state = 1 AND due_at > now() - ` + pg.IntervalSQL(webhook.EndedLeaseGrace) + ` GROUP BY 1`

// CountClaimed counts the claimed deliveries of each subscription, without long-ended claims, whose dead index
// entries are slow to read.
func (s *Store) CountClaimed(ctx context.Context) (map[id.ID]int, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, countClaimed)
	if err != nil {
		return nil, pg.Translate(err)
	}
	counts := map[id.ID]int{}
	var sub id.ID
	var n int
	_, err = pgx.ForEachRow(rows, []any{&sub, &n}, func() error {
		counts[sub] = n
		return nil
	})
	return counts, pg.Translate(err)
}

func (s *Store) ExpireLeases(ctx context.Context, olderThan, lease, grace time.Duration, keep []id.ID) (int, error) {
	s.relayed.forgetAll()
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tag, err := s.pool.Exec(ctx, `
		UPDATE deliveries SET seq = seq + 1, due_at = least(due_at, now() + $4::interval)
		WHERE state = 1 AND due_at > now() AND due_at < now() + $1::interval - $2::interval AND id <> ALL ($3)`, lease,
		olderThan, keep, grace)
	return int(tag.RowsAffected()), pg.Translate(err)
}

func (s *Store) RenewClaims(ctx context.Context, claims []webhookports.Claim,
	lease time.Duration) ([]webhookports.Claim, error) {
	s.relayed.forget(claims)
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	subs, ids, seqs := columns(claims)
	due := make([]time.Time, len(claims))
	for i, c := range claims {
		due[i] = c.DueAt
	}
	rows, err := s.pool.Query(ctx, `
		UPDATE deliveries d SET seq = d.seq + 1, due_at = now() + $4::interval
		FROM unnest($1::uuid[], $2::uuid[], $3::int4[], $5::timestamptz[]) AS c(sub, id, seq, due_at)
		WHERE d.subscription_id = c.sub AND d.id = c.id AND d.seq = c.seq AND d.state = 1
		RETURNING d.id, d.subscription_id, d.seq, `+requested+`, c.due_at`, subs, ids, seqs, lease, due)
	if err != nil {
		return nil, pg.Translate(err)
	}
	var dueAt time.Time
	renewed, err := readClaims(rows, func(c *webhookports.Claim) { c.DueAt = dueAt }, &dueAt)
	return renewed, pg.Translate(err)
}

func columns(claims []webhookports.Claim) (subs, ids []id.ID, seqs []int32) {
	subs, ids, seqs = make([]id.ID, len(claims)), make([]id.ID, len(claims)), make([]int32, len(claims))
	for i, c := range claims {
		subs[i], ids[i], seqs[i] = c.SubscriptionID, c.DeliveryID, c.Seq
	}
	return subs, ids, seqs
}
