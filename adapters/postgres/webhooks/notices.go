package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

func (r EndpointNoticeStore) DueNotices(ctx context.Context, limit int) ([]webhook.Notice, error) {
	rows, err := queries.DueNotices(ctx, r.DB, limit)
	return pg.ConvertEach(rows, func(row sqlc.DueNoticesRow) webhook.Notice {
		return webhook.Notice{SubscriptionID: row.SubscriptionID, Kind: row.Kind}
	}), err
}

// Take deletes an endpoint's notices of a kind and returns what their mail needs; a second dispatcher finds no
// row.
func (r EndpointNoticeStore) Take(ctx context.Context, n webhook.Notice) (about webhookports.NoticeMailData, ok bool,
	err error) {
	taken, err := queries.TakeNotices(ctx, pg.In(ctx), n.SubscriptionID, n.Kind)
	if err != nil || taken.Taken == 0 {
		return about, false, err
	}
	n.At, n.Deliveries, n.PutOff = taken.At, int(taken.Deliveries), taken.PutOff
	about.Notice = n
	row, err := queries.NoticeSubject(ctx, pg.In(ctx), n.SubscriptionID)
	if errors.Is(err, pgx.ErrNoRows) {
		return about, false, nil
	}
	if err != nil {
		return about, false, err
	}
	health := webhook.Health{Failures: row.Failures, OpenUntil: row.HeldUntil, Ramp: row.Ramp}
	about.URL, about.Contact = row.URL, row.ContactEmail
	about.Report = webhook.EndpointReport{
		State: health.State(row.Enabled), Since: row.Since, LastError: webhook.AttemptResult(row.LastError),
		LastSuccessAt: row.LastSuccessAt, LastFailureAt: row.LastFailureAt,
	}
	about.Mailed, err = r.told(ctx, n)
	return about, err == nil, err
}

func (r EndpointNoticeStore) told(ctx context.Context, n webhook.Notice) (webhook.LastMailTimes, error) {
	rows, err := queries.NoticesTold(ctx, pg.In(ctx), n.SubscriptionID)
	told := make(webhook.LastMailTimes, len(rows))
	for _, row := range rows {
		told[row.Kind] = row.MailedAt
	}
	return told, err
}

func (r EndpointNoticeStore) Postpone(ctx context.Context, n webhook.Notice, until time.Time) error {
	return queries.PutOffNotice(ctx, pg.In(ctx), sqlc.PutOffNoticeParams{
		SubscriptionID: n.SubscriptionID, Kind: n.Kind, At: n.At, Deliveries: n.Deliveries, MailAt: until,
	})
}

func (r EndpointNoticeStore) RecordMailing(ctx context.Context, n webhook.Notice) (ok bool, err error) {
	sent, err := queries.MailNotice(ctx, pg.In(ctx), n.SubscriptionID, n.Kind, webhook.MinNoticeInterval)
	return sent == 1, err
}
