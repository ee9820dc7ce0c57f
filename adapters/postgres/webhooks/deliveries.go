package webhooks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// clockSkew is how far around a delivery's own times its attempts are searched, since clocks may differ.
const clockSkew = time.Hour

func (s DeliveryStore) InsertTest(ctx context.Context, d webhook.Delivery) error {
	return queries.InsertTestDelivery(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertTestDeliveryParams{
		ID: d.ID, SubscriptionID: d.SubscriptionID, EventID: d.EventID, Event: d.Event, DepositID: d.DepositID, Body: d.Body,
		CreatedAt:   d.ID.Time(),
		TraceParent: pg.TraceParent(ctx), RequestID: ports.RequestIDOf(ctx),
	})
}

// CountTestsInFlight counts a partner's unfinished test deliveries and locks the number until the transaction
// ends.
func (s DeliveryStore) CountTestsInFlight(ctx context.Context, partnerID id.ID) (n int, err error) {
	t := pg.In(ctx)
	t.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('tests:' || $1::uuid::text, 0))`, partnerID)
	err = t.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT subscription_id FROM deliveries WHERE test AND state = 0 AND due_at IS NOT NULL
			UNION ALL
			SELECT subscription_id FROM deliveries WHERE test AND state = 1 AND due_at > now() - `+
		pg.IntervalSQL(webhook.EndedLeaseGrace)+`) d
		JOIN webhook_subscriptions s ON s.id = d.subscription_id WHERE s.partner_id = $1`, partnerID).Scan(&n)
	return n, err
}

// InsertRedeliveries inserts copies of deliveries to send again. They become due in turn, so as not
// to delay other partners.
func (s DeliveryStore) InsertRedeliveries(ctx context.Context, subscriptionID id.ID,
	copies []webhookports.Redelivery) ([]webhook.Delivery, error) {
	of, as, created := make([]id.ID, len(copies)), make([]id.ID, len(copies)), make([]time.Time, len(copies))
	places := make([]int, len(copies))
	for i, c := range copies {
		of[i], as[i], created[i], places[i] = c.Of, c.As, c.As.Time(), i
	}
	// A copy's event_at is the time at which it is due, so that its latency does not count from the original event.
	rows, err := pg.In(ctx).Query(ctx, `
		WITH open AS (SELECT id FROM webhook_subscriptions WHERE id = $1 AND enabled AND deleted_at IS NULL FOR KEY SHARE)
		INSERT INTO deliveries (subscription_id, id, event_id, event, deposit_id, test, state, due_at, body, redelivery_of,
			event_at, created_at, trace_parent, request_id)
		SELECT d.subscription_id, c.id, d.event_id, d.event, d.deposit_id, d.test, 0, now() + c.place * $7::interval, d.body,
			coalesce(d.redelivery_of, d.id), now() + c.place * $7::interval, c.created_at, nullif($5, ''), nullif($6, '')
		FROM open CROSS JOIN unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $8::int4[]) AS c(source, id, created_at, place)
		JOIN deliveries d ON d.subscription_id = open.id AND d.id = c.source
		RETURNING `+deliveryColumns, subscriptionID, of, as, created, pg.TraceParent(ctx), ports.RequestIDOf(ctx),
		time.Second/webhook.ReplayRedeliveriesPerSecond, places)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanDelivery)
}

// deliveryColumns lists the columns of sqlc.DeliveryByIDRow in the same order, with NULL for the body.
const deliveryColumns = `id, subscription_id, event_id, event, deposit_id, test, state, attempts, due_at, NULL::bytea,
	encode(sha256(body), 'hex'), redelivery_of, created_at, finished_at, taken_at, coalesce(taken_ms, 0)::integer,
	coalesce(taken_status, 0)::smallint, coalesce(taken_snippet, ''), coalesce(failure_reason, '')`

func scanDelivery(row pgx.CollectableRow) (webhook.Delivery, error) {
	d, err := pgx.RowToStructByPos[sqlc.DeliveryByIDRow](row)
	return toDelivery(d), err
}

// statusCondition returns the SQL condition of a status; "" means any. The text for failed is that of the index
// deliveries_failed.
func statusCondition(status webhook.DeliveryStatus) string {
	switch status {
	case webhook.StatusPending:
		return "state IN (0, 1) AND attempts = 0"
	case webhook.StatusRetrying:
		return "state IN (0, 1) AND attempts > 0"
	case webhook.StatusSucceeded:
		return "state = 2"
	case webhook.StatusFailed:
		return "state IN (3, 4)"
	}
	return "true"
}

func (s DeliveryStore) Deliveries(ctx context.Context, subscriptionID id.ID, f webhookports.DeliveryFilter,
	page ports.Page) (ports.ListPage[webhook.Delivery], error) {
	l := &lists.PageQuery{Table: "deliveries", Identity: []string{"subscription_id", "id"}, Order: []string{"id"}}
	switch {
	case !f.DepositID.IsZero():
		l.Where("deposit_id = ?", f.DepositID)
		l.Filter("subscription_id = ?", subscriptionID)
	default:
		l.Where("subscription_id = ?", subscriptionID)
	}
	switch {
	case f.Status == "":
	case f.Status == webhook.StatusFailed && f.DepositID.IsZero():
		l.Where(statusCondition(f.Status))
	default:
		l.Filter(statusCondition(f.Status))
	}
	if f.Event != "" {
		l.Filter("event = ?", f.Event)
	}
	l.WhereIDTimeSpan("id", f.Created)
	l.AfterCursor(page.Cursor)
	sql := "SELECT " + deliveryColumns + ", fits, n FROM " + l.RowsExpression(page) + " AS d ORDER BY id DESC"
	found, err := lists.ReadPage(ctx, s.DB, l, page, sql,
		func(row pgx.CollectableRow) (lists.PageCandidateRow[sqlc.DeliveryByIDRow], error) {
			r, err := pgx.RowToStructByPos[listedDelivery](row)
			return lists.PageCandidateRow[sqlc.DeliveryByIDRow]{Item: r.DeliveryByIDRow, Fits: r.Fits, N: r.N}, err
		}, func(d sqlc.DeliveryByIDRow) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
	if err != nil {
		return ports.ListPage[webhook.Delivery]{}, err
	}
	items, err := s.withAttempts(ctx, found.Items)
	return ports.ListPage[webhook.Delivery]{Items: items, Next: found.Next}, err
}

type listedDelivery struct {
	sqlc.DeliveryByIDRow
	Fits bool
	N    int
}

func (s DeliveryStore) Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error) {
	row, err := queries.DeliveryByID(ctx, s.DB, deliveryID, subscriptionID)
	if err != nil {
		return webhook.Delivery{}, pg.ReplaceErrNoRows(err, webhook.ErrDeliveryNotFound)
	}
	one, err := s.withAttempts(ctx, []sqlc.DeliveryByIDRow{row})
	if err != nil {
		return webhook.Delivery{}, err
	}
	return one[0], nil
}

func toDelivery(row sqlc.DeliveryByIDRow) webhook.Delivery {
	d := webhook.Delivery{
		ID: row.ID, SubscriptionID: row.SubscriptionID, EventID: row.EventID, Event: row.Event, DepositID: row.DepositID,
		Test:  row.Test,
		State: row.State, Attempts: row.Attempts, CreatedAt: row.CreatedAt, RedeliveryOf: row.RedeliveryOf,
		Body: row.Body, BodySHA256: row.BodySha256,
		FailureReason: webhook.FailureReasonOf(row.State, webhook.FailureReason(row.FailureReason)),
	}
	switch row.State {
	case webhook.DeliveryStateWaiting:
		d.DueAt = row.DueAt
	case webhook.DeliveryStateSucceeded:
		d.DeliveredAt = row.TakenAt.Add(time.Duration(row.TakenMs) * time.Millisecond)
		d.AttemptLog = []webhook.Attempt{{
			Number: d.Attempts, StartedAt: row.TakenAt, Duration: time.Duration(row.TakenMs) * time.Millisecond,
			Result: webhook.ResultSuccess, ResponseStatus: int(row.TakenStatus), Snippet: row.TakenSnippet,
		}}
	case webhook.DeliveryStateDispatched, webhook.DeliveryStateFailed, webhook.DeliveryStateCancelled:
		// A delivery in one of these states has no next attempt: due_at is the end of its dispatcher's lease.
	}
	return d
}

// attemptsQuery is the SQL that reads failed attempts of deliveries; the earliest and latest time limit the day
// partitions that it reads.
const attemptsQuery = `
	SELECT a.delivery_id, a.number, a.started_at, a.duration_ms, a.result, coalesce(a.response_status, 0)::smallint,
	a.snippet, a.detail
	FROM (SELECT unnest($1::uuid[]) AS delivery_id, unnest($2::timestamptz[]) AS since,
	unnest($3::timestamptz[]) AS until) AS asked
	JOIN delivery_attempts a ON a.delivery_id = asked.delivery_id AND a.started_at >= asked.since
	AND a.started_at < asked.until
	WHERE a.started_at >= $4::timestamptz AND a.started_at < $5::timestamptz
	ORDER BY a.delivery_id, a.number, a.started_at`

// withAttempts returns the deliveries with their failed attempts, in the order of the attempts' numbers.
func (s DeliveryStore) withAttempts(ctx context.Context, found []sqlc.DeliveryByIDRow) ([]webhook.Delivery, error) {
	all := make([]webhook.Delivery, len(found))
	place := make(map[id.ID]int, len(found))
	var ids []id.ID
	var since, until []time.Time
	for i, row := range found {
		all[i] = toDelivery(row)
		if row.Attempts == 0 || row.Attempts == 1 && row.State == webhook.DeliveryStateSucceeded {
			continue
		}
		ended := row.FinishedAt
		if ended.IsZero() {
			ended = time.Now()
		}
		place[row.ID] = i
		ids, since, until = append(ids, row.ID), append(since, row.CreatedAt.Add(-clockSkew)),
			append(until, ended.Add(clockSkew))
	}
	if len(ids) == 0 {
		return all, nil
	}
	// The statement stays unnamed, so that Postgres plans only the partitions that the times select.
	rows, err := s.DB.Query(ctx, attemptsQuery, pgx.QueryExecModeCacheDescribe, ids, since, until,
		slices.MinFunc(since, time.Time.Compare), slices.MaxFunc(until, time.Time.Compare))
	if err != nil {
		return nil, err
	}
	var deliveryID id.ID
	var a webhook.Attempt
	var durationMs int64
	_, err = pgx.ForEachRow(rows, []any{&deliveryID, &a.Number, &a.StartedAt, &durationMs, &a.Result, &a.ResponseStatus,
		&a.Snippet, &a.Detail}, func() error {
		a.Duration = time.Duration(durationMs) * time.Millisecond
		d := &all[place[deliveryID]]
		d.AttemptLog = append(d.AttemptLog, a)
		return nil
	})
	for _, d := range all {
		slices.SortStableFunc(d.AttemptLog, func(a, b webhook.Attempt) int { return a.Number - b.Number })
	}
	return all, pg.Translate(err)
}

// BodiesMadeDuring returns a subscription's deliveries of a span of time.
func (s DeliveryStore) BodiesMadeDuring(ctx context.Context, subscriptionID id.ID, made ports.TimeSpan,
	limit int) ([]webhook.SentDelivery, error) {
	rows, err := queries.DeliveriesMade(ctx, s.DB, sqlc.DeliveriesMadeParams{
		SubscriptionID: subscriptionID, MadeFrom: made.From, MadeTo: made.To, MaxRows: limit,
	})
	return pg.ConvertEach(rows, func(r sqlc.DeliveriesMadeRow) webhook.SentDelivery { return webhook.SentDelivery(r) }),
		pg.Translate(err)
}

// BodiesAboutDeposit returns a subscription's deliveries about a deposit, always by the index of deposits.
func (s DeliveryStore) BodiesAboutDeposit(ctx context.Context, subscriptionID, depositID id.ID,
	limit int) ([]webhook.SentDelivery, error) {
	rows, err := queries.DeliveriesAbout(ctx, s.DB, depositID, subscriptionID, limit)
	return pg.ConvertEach(rows, func(r sqlc.DeliveriesAboutRow) webhook.SentDelivery { return webhook.SentDelivery(r) }),
		pg.Translate(err)
}

func (s DeliveryStore) DeliveriesOfDeposit(ctx context.Context, depositID id.ID, limit int) ([]webhook.Delivery,
	error) {
	return s.deliveries(ctx, `SELECT `+deliveryColumns+` FROM deliveries WHERE deposit_id = $1 ORDER BY id DESC LIMIT $2`,
		depositID, limit)
}

// deliveries returns the deliveries that a query selects, with their attempts. The query must read
// deliveryColumns.
func (s DeliveryStore) deliveries(ctx context.Context, sql string, args ...any) ([]webhook.Delivery, error) {
	rows, err := s.DB.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sqlc.DeliveryByIDRow])
	if err != nil {
		return nil, pg.Translate(err)
	}
	return s.withAttempts(ctx, found)
}

// maxRedeliveries is the most repeated deliveries of an event shown to support staff.
const maxRedeliveries = 1000

// DeliveriesOfEvent returns the deliveries of an event.
func (s DeliveryStore) DeliveriesOfEvent(ctx context.Context, e webhookports.EventView) ([]webhook.Delivery, error) {
	subscriptions, err := queries.SubscriptionsOfPartner(ctx, s.DB, e.PartnerID)
	if err != nil {
		return nil, err
	}
	originals := pg.ConvertEach(subscriptions,
		func(subscriptionID id.ID) id.ID { return webhook.OriginalDeliveryID(e.ID, subscriptionID) })
	found, err := s.deliveries(ctx,
		`SELECT `+deliveryColumns+` FROM unnest($1::uuid[], $2::uuid[]) AS k(subscription, delivery)
		CROSS JOIN LATERAL (SELECT * FROM deliveries d WHERE d.subscription_id = k.subscription
		AND d.id = k.delivery OFFSET 0) AS d`,
		subscriptions, originals)
	if err != nil || e.DepositID.IsZero() {
		return found, err
	}
	again, err := s.deliveries(ctx,
		`SELECT `+deliveryColumns+` FROM (SELECT * FROM deliveries WHERE deposit_id = $1 OFFSET 0) AS d
		WHERE event_id = $2 AND redelivery_of IS NOT NULL ORDER BY id LIMIT `+strconv.Itoa(maxRedeliveries), e.DepositID,
		e.ID)
	return append(found, again...), err
}

// FindDelivery returns the delivery with an id, looked up for each subscription, with which the primary key
// begins.
func (s DeliveryStore) FindDelivery(ctx context.Context, deliveryID id.ID) (webhook.Delivery, error) {
	found, err := s.deliveries(ctx,
		`SELECT `+deliveryColumns+` FROM (SELECT id AS subscription FROM webhook_subscriptions) AS s
		CROSS JOIN LATERAL (SELECT * FROM deliveries d WHERE d.subscription_id = s.subscription AND d.id = $1 OFFSET 0) AS d
		LIMIT 1`,
		deliveryID)
	if err == nil && len(found) == 0 {
		err = webhook.ErrDeliveryNotFound
	}
	if err != nil {
		return webhook.Delivery{}, err
	}
	return found[0], nil
}

func (s DeliveryStore) LastDeliveries(ctx context.Context, subscriptionID id.ID, limit int) ([]webhook.Delivery,
	error) {
	return s.deliveries(ctx, `SELECT `+deliveryColumns+
		` FROM deliveries WHERE subscription_id = $1 ORDER BY id DESC LIMIT $2`, subscriptionID, limit)
}
