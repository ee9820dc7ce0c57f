package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// DueNotices implements webhookports.Notices.
func (r Notices) DueNotices(ctx context.Context, limit int) ([]webhook.Notice, error) {
	rows, err := r.DB.Query(ctx, `SELECT subscription_id, kind FROM webhook_notices WHERE mail_at <= now() GROUP BY 1, 2 ORDER BY min(id) LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n webhook.Notice, err error) {
		return n, row.Scan(&n.SubscriptionID, &n.Kind)
	})
	return due, pg.Translate(err)
}

// Take implements webhookports.Notices. A second dispatcher waits for the first at the DELETE, and finds no row.
func (r Notices) Take(ctx context.Context, n webhook.Notice) (about webhookports.NoticeSubject, ok bool, err error) {
	var taken int
	err = pg.In(ctx).QueryRow(ctx, `
		WITH taken AS (DELETE FROM webhook_notices WHERE subscription_id = $1 AND kind = $2 RETURNING at, deliveries, put_off)
		SELECT count(*), coalesce(max(at), now()), coalesce(sum(deliveries), 0), coalesce(bool_and(put_off), false) FROM taken`,
		n.SubscriptionID, n.Kind).Scan(&taken, &n.At, &n.Deliveries, &n.PutOff)
	if err != nil || taken == 0 {
		return about, false, err
	}
	about.Notice = n
	var enabled bool
	var health webhook.Health
	var openUntil, success, failure *time.Time
	err = pg.In(ctx).QueryRow(ctx, `
		SELECT s.url, s.enabled, coalesce(s.state_since, s.failing_since, s.created_at), s.failures, s.held_until, s.ramp,
			s.last_success_at, s.last_failure_at, coalesce(s.last_error, ''), p.contact_email
		FROM webhook_subscriptions s JOIN partners p ON p.id = s.partner_id
		WHERE s.id = $1 AND s.deleted_at IS NULL AND p.contact_email <> ''`, n.SubscriptionID).Scan(&about.URL, &enabled, &about.Report.Since,
		&health.Failures, &openUntil, &health.Ramp, &success, &failure, &about.Report.LastError, &about.Contact)
	if errors.Is(err, pgx.ErrNoRows) {
		return about, false, nil
	}
	if err != nil {
		return about, false, err
	}
	health.OpenUntil = pg.OrZero(openUntil)
	about.Report.State, about.Report.LastSuccessAt, about.Report.LastFailureAt = health.State(enabled), pg.OrZero(success), pg.OrZero(failure)
	about.Mailed, err = r.told(ctx, n)
	return about, err == nil, err
}

func (r Notices) told(ctx context.Context, n webhook.Notice) (webhook.Mailed, error) {
	rows, err := pg.In(ctx).Query(ctx, `SELECT kind, mailed_at FROM webhook_notice_mails WHERE subscription_id = $1`, n.SubscriptionID)
	if err != nil {
		return nil, err
	}
	told := webhook.Mailed{}
	var kind webhook.NoticeKind
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&kind, &at}, func() error {
		told[kind] = at
		return nil
	})
	return told, err
}

// PutOff implements webhookports.Notices.
func (r Notices) PutOff(ctx context.Context, n webhook.Notice, until time.Time) error {
	_, err := pg.In(ctx).Exec(ctx, `INSERT INTO webhook_notices (subscription_id, kind, at, deliveries, put_off, mail_at) VALUES ($1, $2, $3, $4, true, $5)`,
		n.SubscriptionID, n.Kind, n.At, n.Deliveries, until)
	return err
}

// Mailing implements webhookports.Notices.
func (r Notices) Mailing(ctx context.Context, n webhook.Notice) (ok bool, err error) {
	tag, err := pg.In(ctx).Exec(ctx, `
		INSERT INTO webhook_notice_mails AS m (subscription_id, kind, mailed_at) VALUES ($1, $2, now())
		ON CONFLICT (subscription_id, kind) DO UPDATE SET mailed_at = now() WHERE m.mailed_at <= now() - $3::interval`,
		n.SubscriptionID, n.Kind, webhook.NoticeEvery)
	return err == nil && tag.RowsAffected() == 1, err
}
