package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// moveLimit is the most deliveries changed by the transaction that enables, disables or deletes their
// subscription; ReleaseOrCancelDeliveries changes the rest.
const moveLimit = 10_000

func (r SubscriptionStore) Insert(ctx context.Context, s webhook.Subscription, key secret.Text) error {
	sealed, err := r.Sealer.Encrypt(key, pg.SigningSecretAAD(s.ID))
	if err != nil {
		return err
	}
	if err := queries.LockPartner(ctx, pg.In(ctx).QueueingTx(), s.PartnerID); err != nil {
		return err
	}
	return pg.RequireRowChanged(webhook.ErrSubscriptionLimitReached)(queries.InsertSubscription(ctx, pg.In(ctx),
		sqlc.InsertSubscriptionParams{
			ID: s.ID, PartnerID: s.PartnerID, URL: s.URL,
			Events: pg.ConvertEach(s.Events, func(e webhook.EventName) string { return string(e) }), Secret: sealed,
			Enabled: s.Enabled, DisabledReason: s.DisabledReason, CreatedAt: s.CreatedAt, Standard: s.Standard,
			MaxRows: webhook.MaxSubscriptions,
		}))
}

func (r SubscriptionStore) LockRow(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error) {
	row, err := queries.SubscriptionForUpdate(ctx, pg.In(ctx), subscriptionID, partnerID)
	return webhook.Subscription(row), pg.ReplaceErrNoRows(err, webhook.ErrNotFound)
}

func (r SubscriptionStore) LockRowShared(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription,
	error) {
	row, err := queries.HoldSubscription(ctx, pg.In(ctx), subscriptionID, partnerID)
	return webhook.Subscription(row), pg.ReplaceErrNoRows(err, webhook.ErrNotFound)
}

func (r SubscriptionStore) Update(ctx context.Context, s webhook.Subscription, releasePerSecond int) error {
	wasEnabled, err := queries.UpdateSubscription(ctx, pg.In(ctx), sqlc.UpdateSubscriptionParams{
		URL: s.URL, Events: s.Events, Standard: s.Standard, Enabled: s.Enabled, DisabledReason: s.DisabledReason, ID: s.ID,
	})
	switch {
	case err != nil:
		return pg.ReplaceErrNoRows(err, webhook.ErrNotFound)
	case s.Enabled && !wasEnabled:
		_, err = queries.ReleaseDeliveries(ctx, pg.In(ctx).QueueingTx(), float64(releasePerSecond), s.ID, moveLimit)
	case !s.Enabled && wasEnabled:
		_, err = queries.ParkDeliveries(ctx, pg.In(ctx).QueueingTx(), s.ID, moveLimit)
	}
	return err
}

func (r SubscriptionStore) SetSigningSecret(ctx context.Context, subscriptionID id.ID, key secret.Text) error {
	sealed, err := r.Sealer.Encrypt(key, pg.SigningSecretAAD(subscriptionID))
	if err != nil {
		return err
	}
	return queries.SetSubscriptionSecret(ctx, pg.In(ctx).QueueingTx(), sealed, subscriptionID)
}

func (r SubscriptionStore) Delete(ctx context.Context, subscriptionID id.ID, at time.Time) error {
	if _, err := queries.DeleteSubscription(ctx, pg.In(ctx).QueueingTx(), at, subscriptionID); err != nil {
		return err
	}
	_, err := queries.CancelDeliveries(ctx, pg.In(ctx).QueueingTx(), at, subscriptionID, moveLimit)
	return err
}

func (r SubscriptionStore) ProbeEndpoints(ctx context.Context, of webhookports.ProbeFilter) (webhookports.ProbeResult,
	error) {
	return pg.MakeFailingEndpointsDue(ctx, pg.In(ctx), of)
}

func (r SubscriptionStore) Subscription(ctx context.Context, partnerID,
	subscriptionID id.ID) (webhook.Subscription, error) {
	row, err := queries.Subscription(ctx, r.DB, subscriptionID, partnerID)
	return webhook.Subscription(row), pg.ReplaceErrNoRows(err, webhook.ErrNotFound)
}

func (r SubscriptionStore) SubscriptionByID(ctx context.Context, subscriptionID id.ID) (webhook.Subscription, error) {
	row, err := queries.SubscriptionByID(ctx, r.DB, subscriptionID)
	return webhook.Subscription(row), pg.ReplaceErrNoRows(err, webhook.ErrNotFound)
}

func (r SubscriptionStore) Subscriptions(ctx context.Context, partnerID id.ID,
	page ports.Page) (ports.ListPage[webhook.Subscription], error) {
	l := &lists.PageQuery{Table: "webhook_subscriptions", Identity: []string{"id"}, Order: []string{"created_at", "id"}}
	l.Where("partner_id = ? AND deleted_at IS NULL", partnerID)
	l.AfterCursor(page.Cursor)
	sql := `SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, standard, fits, n FROM ` + l.RowsExpression(page) +
		` AS s ORDER BY created_at DESC, id DESC`
	return lists.ReadPage(ctx, r.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.PageCandidateRow[webhook.Subscription], err error) {
			a := &got.Item
			err = row.Scan(&a.ID, &a.PartnerID, &a.URL, &a.Events, &a.Enabled, &a.DisabledReason, &a.CreatedAt,
				&a.Standard, &got.Fits, &got.N)
			return got, err
		}, func(s webhook.Subscription) ports.Cursor { return ports.Cursor{At: s.CreatedAt, ID: s.ID} })
}

// SigningSecrets returns the signing secrets of a partner's subscriptions. A secret that cannot be decrypted is
// left out.
func (r SubscriptionStore) SigningSecrets(ctx context.Context, partnerID id.ID) (map[id.ID]secret.Text, error) {
	rows, err := queries.SigningSecrets(ctx, r.DB, partnerID)
	if err != nil {
		return nil, pg.Translate(err)
	}
	all := make(map[id.ID]secret.Text, len(rows))
	for _, row := range rows {
		switch plain, err := r.Sealer.Decrypt(row.Secret, pg.SigningSecretAAD(row.ID)); {
		// Nothing can be decrypted by this process's keyset: return that error, not an empty result.
		case errors.Is(err, fault.ErrUnavailable):
			return nil, err
		case err == nil:
			all[row.ID] = plain
		}
	}
	return all, nil
}

func (r SubscriptionStore) FindSubscription(
	ctx context.Context, subscriptionID id.ID,
) (webhookports.SubscriptionView, error) {
	row, err := queries.FindSubscription(ctx, r.DB, subscriptionID)
	return webhookports.SubscriptionView{
		Subscription: webhook.Subscription{
			ID: row.ID, PartnerID: row.PartnerID, URL: row.URL, Events: row.Events,
			Enabled: row.Enabled, DisabledReason: row.DisabledReason, CreatedAt: row.CreatedAt,
			Standard: row.Standard,
		},
		DeletedAt: row.DeletedAt, Failures: row.Failures, FailingSince: row.FailingSince,
		HeldUntil: row.HeldUntil, Slow: row.Slow,
	}, pg.ReplaceErrNoRows(err, webhook.ErrNotFound)
}
