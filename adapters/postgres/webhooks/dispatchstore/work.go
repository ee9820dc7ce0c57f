package dispatchstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

// LoadClaimed returns the claimed deliveries with what their POSTs need. Those just made by this process need
// no query.
func (s *Store) LoadClaimed(ctx context.Context, claims []webhookports.Claim) ([]webhookports.Delivery, error) {
	out := make([]webhookports.Delivery, len(claims))
	var asked []webhookports.Claim
	for i, c := range claims {
		d, found := s.relayed.take(c)
		if !found {
			asked = append(asked, c)
			continue
		}
		out[i] = d.Delivery
		s.open(&out[i], d.sealed)
	}
	if len(asked) == 0 {
		return out, nil
	}
	found, err := s.read(ctx, asked)
	if err != nil {
		return nil, err
	}
	for i, c := range claims {
		if out[i].Found {
			continue
		}
		d := found[c.DeliveryID]
		d.Current = d.State == webhook.DeliveryStateDispatched && d.Seq == c.Seq
		d.Claim = c
		out[i] = d
	}
	return out, nil
}

func (s *Store) read(ctx context.Context, claims []webhookports.Claim) (map[id.ID]webhookports.Delivery, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	subs, ids, _ := columns(claims)
	readAt := time.Now()
	rows, err := s.pool.Query(ctx, `
		SELECT d.id, d.seq, d.state, d.due_at - clock_timestamp(), d.attempts, d.test, d.event, d.event_id, d.event_at,
		d.body,
			s.id, s.url, s.secret, s.enabled, s.failures = 0 AND NOT s.slow AND s.held_until IS NULL AND s.ramp = 0
			AND NOT s.trouble, clock_timestamp(),
			coalesce(d.trace_parent, ''), coalesce(d.request_id, ''), s.standard
		FROM unnest($1::uuid[], $2::uuid[]) AS c(sub, id)
		JOIN deliveries d ON d.subscription_id = c.sub AND d.id = c.id
		JOIN webhook_subscriptions s ON s.id = d.subscription_id AND s.deleted_at IS NULL`, subs, ids)
	if err != nil {
		return nil, pg.Translate(err)
	}
	found := make(map[id.ID]webhookports.Delivery, len(claims))
	for rows.Next() {
		d, err := s.scanDelivery(rows, readAt)
		if err != nil {
			rows.Close()
			return nil, err
		}
		found[d.DeliveryID] = d
	}
	return found, pg.Translate(rows.Err())
}

// scanDelivery scans a row into a delivery and decrypts its signing secret.
func (s *Store) scanDelivery(rows pgx.Rows, readAt time.Time) (webhookports.Delivery, error) {
	d := webhookports.Delivery{Found: true, ReadAt: readAt}
	var left *time.Duration
	var sealed []byte
	var dbNow time.Time
	if err := rows.Scan(&d.DeliveryID, &d.Seq, &d.State, &left, &d.Attempts, &d.Test, &d.Event, &d.EventID, &d.EventAt,
		&d.Body,
		&d.SubscriptionID, &d.URL, &sealed, &d.Enabled, &d.Healthy, &dbNow,
		&d.TraceParent, &d.RequestID, &d.Standard); err != nil {
		return d, pg.Translate(err)
	}
	if left != nil {
		d.LeaseLeft = *left
	}
	d.Skew = time.Until(dbNow)
	s.open(&d, sealed)
	return d, nil
}

func (s *Store) RecordOutcomes(
	ctx context.Context, outcomes []webhookports.AttemptOutcome, adjust []id.ID, limit int, now time.Time,
) (settled []bool, health map[id.ID]webhook.Health, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if len(adjust) == 0 {
		return settled, nil, pg.RetryTx(ctx, func() error {
			batch := &pgx.Batch{}
			tellSuccesses(batch, outcomes, nil)
			record(batch, outcomes, &settled)
			return pg.Translate(s.pool.SendBatch(ctx, batch).Close())
		})
	}
	err = pg.RunInTx(ctx, s.pool, func(t *pg.Tx) (err error) {
		if health, err = adjustHealth(ctx, t, outcomes, adjust, limit, now); err != nil {
			return err
		}
		tellSuccesses(t, outcomes, adjust)
		record(t, outcomes, &settled)
		noticeGivenUp(t, outcomes)
		failpoint.Hit("record.writing")
		return t.Commit(ctx)
	})
	return settled, health, err
}

// record queues the storing of attempts' results. settled is set to false for an attempt whose delivery another
// dispatcher had taken over.
func record(batch queuer, outcomes []webhookports.AttemptOutcome, settled *[]bool) {
	n := len(outcomes)
	index, subs, ids, seqs, states, waits := make([]int32, n), make([]id.ID, n), make([]id.ID, n), make([]int32, n),
		make([]int16, n), make([]time.Duration, n)
	numbers, started, took := make([]int32, n), make([]time.Time, n), make([]int32, n)
	results, statuses, snippets, details := make([]string, n), make([]*int16, n), make([]string, n), make([]string, n)
	for i, o := range outcomes {
		a := o.Attempt
		subs[i] = o.Delivery.SubscriptionID
		index[i], ids[i], seqs[i], states[i], waits[i] = int32(i), o.Delivery.DeliveryID, o.Delivery.Seq,
			int16(o.Verdict.State), o.Verdict.Wait //nolint:gosec // a batch is small
		numbers[i], started[i], took[i] = int32(a.Number), a.StartedAt,
			int32(a.Duration.Milliseconds()) //nolint:gosec // bounded by schedule and timeout
		results[i], snippets[i], details[i] = string(a.Result), a.Snippet, a.Detail
		if a.ResponseStatus > 0 {
			status := int16(a.ResponseStatus) //nolint:gosec // three digits
			statuses[i] = &status
		}
	}
	batch.Queue(`
		WITH o AS (
			SELECT * FROM unnest($1::int4[], $2::uuid[], $3::int4[], $4::int2[], $5::interval[], $6::int4[], $7::timestamptz[],
			$8::int4[], $9::text[], $10::int2[], $11::text[], $12::text[], $13::uuid[])
				AS o(n, id, seq, state, wait, number, started_at, duration_ms, result, status, snippet, detail, sub)),
		settled AS (
			UPDATE deliveries d SET state = o.state, attempts = greatest(d.attempts, o.number),
				due_at = CASE WHEN o.state = 0 THEN now() + o.wait END, finished_at = CASE WHEN o.state >= 2 THEN now() END,
				taken_at = CASE WHEN o.state = 2 THEN o.started_at END, taken_ms = CASE WHEN o.state = 2 THEN o.duration_ms END,
				taken_status = CASE WHEN o.state = 2 THEN o.status END, taken_snippet = CASE
				WHEN o.state = 2 THEN nullif(o.snippet, '') END
			FROM o
			WHERE d.subscription_id = o.sub AND d.id = o.id AND CASE WHEN o.state = 2 THEN d.state IN (0, 1, 3) ELSE d.state = 1
			AND d.seq = o.seq END
			RETURNING o.n),
		logged AS (
			INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result, response_status, snippet,
			detail)
			SELECT o.id, o.number, o.started_at, o.duration_ms, o.result, o.status, o.snippet, o.detail FROM o
			WHERE o.result <> '' AND (o.state <> 2 OR o.n NOT IN (SELECT n FROM settled)))
		SELECT n FROM settled`,
		index, ids, seqs, states, waits, numbers, started, took, results, statuses, snippets, details,
		subs).Query(func(rows pgx.Rows) error {
		*settled = make([]bool, n)
		var i int32
		_, err := pgx.ForEachRow(rows, []any{&i}, func() error {
			(*settled)[i] = true
			return nil
		})
		return err
	})
}

func (s *Store) ReleaseClaims(ctx context.Context, claims []webhookports.Claim) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	subs, ids, seqs := columns(claims)
	_, err := s.pool.Exec(ctx, `
		UPDATE deliveries d SET
			state = CASE WHEN s.deleted_at IS NULL THEN 0 ELSE 4 END,
			due_at = CASE WHEN s.deleted_at IS NULL AND s.enabled THEN now() END,
			finished_at = CASE WHEN s.deleted_at IS NOT NULL THEN now() END
		FROM unnest($1::uuid[], $2::uuid[], $3::int4[]) AS c(sub, id, seq) JOIN webhook_subscriptions s ON s.id = c.sub
		WHERE d.subscription_id = c.sub AND d.id = c.id AND d.seq = c.seq AND d.state = 1`, subs, ids, seqs)
	return pg.Translate(err)
}

func (s *Store) DisableSubscription(ctx context.Context, subscriptionID id.ID) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return pg.RunInTx(ctx, s.pool, func(t *pg.Tx) error {
		var since time.Time
		err := t.QueryRow(ctx, `
			UPDATE webhook_subscriptions s SET enabled = false, disabled_reason = $2, state_since = now(), trouble = true
			FROM (SELECT l.id FROM webhook_subscriptions l WHERE l.id = $1 FOR UPDATE) locked
			WHERE s.id = locked.id AND s.enabled AND s.deleted_at IS NULL AND s.failing_since <= now() - $3::interval
			RETURNING s.state_since`, subscriptionID, webhook.DisabledByFailure, webhook.DisableAfter).Scan(&since)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		t.Queue(`UPDATE deliveries SET due_at = NULL WHERE subscription_id = $1 AND state = 0 AND due_at IS NOT NULL`,
			subscriptionID)
		notice(t, subscriptionID, webhook.NoticeSubscriptionDisabled, since)
		if err := t.Flush(ctx); err != nil {
			// Send the statements before the commit, whose time limit is shorter than parking many deliveries may take.
			return err
		}
		return t.Commit(ctx)
	})
}

// open decrypts the secret with which a delivery is signed; a failure concerns only this delivery.
func (s *Store) open(d *webhookports.Delivery, sealed []byte) {
	plain, err := s.cipher.Decrypt(sealed, pg.SigningSecretAAD(d.SubscriptionID))
	if err != nil {
		d.SecretErr = err
		return
	}
	d.Secret = secret.Text(plain)
}
