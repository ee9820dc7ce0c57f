package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// moveLimit bounds the deliveries that are parked, released or cancelled in the transaction of their subscription.
// TidyDeliveries moves the rest of a longer backlog; until then the dispatcher checks the subscription before each POST.
const moveLimit = 10_000

type subscriptions struct{ unit }

// Insert implements ports.SubscriptionRepository.
func (r subscriptions) Insert(ctx context.Context, s webhook.Subscription, key secret.Text) error {
	sealed, err := r.sealer.Seal(key, pg.SecretAAD(s.ID))
	if err != nil {
		return err
	}
	if err := r.q.LockPartner(ctx, r.Deferred(), s.PartnerID); err != nil {
		return err
	}
	return changed(webhook.ErrLimitReached)(r.q.InsertSubscription(ctx, r.Tx, sqlc.InsertSubscriptionParams{
		ID: s.ID, PartnerID: s.PartnerID, URL: s.URL, Events: each(s.Events, func(e webhook.EventName) string { return string(e) }), Secret: sealed,
		Enabled: s.Enabled, DisabledReason: s.DisabledReason, CreatedAt: s.CreatedAt, Most: webhook.MaxSubscriptions,
	}))
}

func (r subscriptions) ForUpdate(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error) {
	row, err := r.q.SubscriptionForUpdate(ctx, r.Tx, subscriptionID, partnerID)
	return webhook.Subscription(row), pg.OrNotFound(err, webhook.ErrNotFound)
}

func (r subscriptions) Update(ctx context.Context, s webhook.Subscription, releasePerSecond int) error {
	wasEnabled, err := r.q.UpdateSubscription(ctx, r.Tx, sqlc.UpdateSubscriptionParams{
		URL: s.URL, Events: s.Events, Enabled: s.Enabled, DisabledReason: s.DisabledReason, ID: s.ID,
	})
	switch {
	case err != nil:
		return pg.OrNotFound(err, webhook.ErrNotFound)
	case s.Enabled && !wasEnabled:
		_, err = r.q.ReleaseDeliveries(ctx, r.Deferred(), float64(releasePerSecond), s.ID, moveLimit)
	case !s.Enabled && wasEnabled:
		_, err = r.q.ParkDeliveries(ctx, r.Deferred(), s.ID, moveLimit)
	}
	return err
}

func (r subscriptions) SetSecret(ctx context.Context, subscriptionID id.ID, key secret.Text) error {
	sealed, err := r.sealer.Seal(key, pg.SecretAAD(subscriptionID))
	if err != nil {
		return err
	}
	return r.q.SetSubscriptionSecret(ctx, r.Deferred(), sealed, subscriptionID)
}

func (r subscriptions) Delete(ctx context.Context, subscriptionID id.ID, at time.Time) error {
	if _, err := r.q.DeleteSubscription(ctx, r.Deferred(), at, subscriptionID); err != nil {
		return err
	}
	_, err := r.q.CancelDeliveries(ctx, r.Deferred(), at, subscriptionID, moveLimit)
	return err
}

// Probe implements ports.Prober.
func (r subscriptions) Probe(ctx context.Context, of ports.ProbeOf) (ports.Probed, error) {
	return pg.Probe(ctx, r.Tx, of)
}

// Subscription implements ports.SubscriptionReader.
func (s *Store) Subscription(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error) {
	row, err := s.q.Subscription(ctx, s.db, subscriptionID, partnerID)
	return webhook.Subscription(row), pg.OrNotFound(err, webhook.ErrNotFound)
}

// SubscriptionByID implements ports.SubscriptionReader.
func (s *Store) SubscriptionByID(ctx context.Context, subscriptionID id.ID) (webhook.Subscription, error) {
	row, err := s.q.SubscriptionByID(ctx, s.db, subscriptionID)
	return webhook.Subscription(row), pg.OrNotFound(err, webhook.ErrNotFound)
}

// Subscriptions implements ports.SubscriptionReader.
func (s *Store) Subscriptions(ctx context.Context, partnerID id.ID, page ports.Page) (ports.List[webhook.Subscription], error) {
	l := &list{table: "webhook_subscriptions", identity: []string{"id"}, order: []string{"created_at", "id"}}
	l.where("partner_id = ? AND deleted_at IS NULL", partnerID)
	l.after(page.Cursor)
	sql := `SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, fits, n FROM ` + l.rows(page) + ` AS s ORDER BY created_at DESC, id DESC`
	return read(ctx, s.db, l, page, sql, func(row pgx.CollectableRow) (got listed[webhook.Subscription], err error) {
		a := &got.item
		err = row.Scan(&a.ID, &a.PartnerID, &a.URL, &a.Events, &a.Enabled, &a.DisabledReason, &a.CreatedAt, &got.fits, &got.n)
		return got, err
	}, func(s webhook.Subscription) ports.Cursor { return ports.Cursor{At: s.CreatedAt, ID: s.ID} })
}

// TidyDeliveries implements ports.Maintenance. A call moves up to moveLimit deliveries of each subscription.
func (s *Store) TidyDeliveries(ctx context.Context, releasePerSecond int) (moved int, err error) {
	enabled, err := s.q.SubscriptionsToRelease(ctx, s.db)
	if err != nil {
		return 0, err
	}
	deleted, err := s.q.SubscriptionsToClear(ctx, s.db)
	if err != nil {
		return 0, err
	}
	var failures []error
	for _, subscriptionID := range enabled {
		n, err := s.q.ReleaseDeliveries(ctx, s.db, float64(releasePerSecond), subscriptionID, moveLimit)
		moved, failures = moved+int(n), append(failures, err)
	}
	for _, subscriptionID := range deleted {
		n, err := s.q.CancelDeliveries(ctx, s.db, time.Now(), subscriptionID, moveLimit)
		moved, failures = moved+int(n), append(failures, err)
	}
	return moved, errors.Join(failures...)
}
