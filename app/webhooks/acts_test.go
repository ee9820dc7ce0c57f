//go:build !unit

package webhooks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestChanges_ThatAreRefused_AreAnsweredAtOnce(t *testing.T) {
	f := newFixture(t)
	unknown, no := servicetest.NewID(), false
	_, err := f.Webhooks.Update(t.Context(), f.by, unknown, webhooks.SubscriptionChanges{Enabled: &no})
	require.ErrorIs(t, err, webhook.ErrNotFound)
	_, err = f.Webhooks.RotateSecret(t.Context(), f.by, unknown)
	require.ErrorIs(t, err, webhook.ErrNotFound)
	require.ErrorIs(t, f.Webhooks.Delete(t.Context(), f.by, unknown), webhook.ErrNotFound)
	require.Empty(t, f.waited())
}

// The dispatcher may use the state that a subscription had webhook.MaxSubscriptionCacheAge ago. A wait before the
// commit would be useless.
func TestChanges_AreCommittedBeforeTheWait(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		do        func(s *webhooks.Service, sub id.ID) error
		committed string
	}{
		"disable": {func(s *webhooks.Service, sub id.ID) error {
			_, err := s.Update(t.Context(), f.by, sub, webhooks.SubscriptionChanges{Enabled: new(bool)})
			return err
		}, `NOT enabled`},
		"move": {func(s *webhooks.Service, sub id.ID) error {
			_, err := s.Update(t.Context(), f.by, sub, webhooks.SubscriptionChanges{URL: new("https://pms.example/moved")})
			return err
		}, `url LIKE '%moved'`},
		"rotate": {func(s *webhooks.Service, sub id.ID) error {
			_, err := s.RotateSecret(t.Context(), f.by, sub)
			return err
		}, `secret <> (SELECT secret FROM webhook_subscriptions WHERE id = $2)`},
		"delete": {func(s *webhooks.Service, sub id.ID) error { return s.Delete(t.Context(), f.by, sub) },
			`deleted_at IS NOT NULL`},
	} {
		sub, looked := f.subscribe(f.by), false
		err := c.do(f.waiting(func() {
			looked = true
			require.Equal(t, 1, f.Count("webhook_subscriptions", "id = $1 AND $2::uuid IS NOT NULL AND "+c.committed, sub,
				f.sub), name)
		}), sub)
		require.NoError(t, err, name)
		require.True(t, looked, name)
		require.Equal(t, []time.Duration{webhook.MaxSubscriptionCacheAge}, f.waited(), name)
	}
}

// The audit log is kept for ever, and a partner may put a secret of its own into the query.
func TestURLs_InTheAuditLog_HaveNoQuery(t *testing.T) {
	f := newFixture(t)
	_, err := f.Webhooks.Create(t.Context(), f.by,
		webhooks.NewSubscription{URL: "https://pms.example/created?key=hunter2"},
		idempotent.KeyAndEncoder[webhooks.SubscriptionWithSecret]{
			Encode: func(webhooks.SubscriptionWithSecret) (idempotent.Response, error) {
				return idempotent.Response{Code: 201}, nil
			}})
	require.NoError(t, err)
	_, err = f.Webhooks.Update(t.Context(), f.by, f.sub,
		webhooks.SubscriptionChanges{URL: new("https://pms.example/changed?key=hunter2&a=1")})
	require.NoError(t, err)
	for action, want := range map[string]string{"webhook.create": "https://pms.example/created?…",
		"webhook.update": "https://pms.example/changed?…"} {
		require.Equal(t, 1, f.Count("audit_log", "action = $1 AND detail ->> 'url' = $2", action, want), action)
	}
	require.Zero(t, f.Count("audit_log", "audit_log::text LIKE '%hunter2%'"))
}

// A probe ends the wait of open circuits and of retries, of the endpoints that it is for, and is audited.
func TestProbe_ReleasesTheCircuitsAndRetriesThatItIsFor(t *testing.T) {
	f := newFixture(t)
	other := f.caller("other")
	ofOther, healthy := f.subscribe(other), f.subscribe(f.by)
	hold := func() {
		_, err := f.Pool.Exec(t.Context(), `
			UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour', holds = 9,
			held_until = now() + interval '5 minutes'
			WHERE id <> $1`, healthy)
		require.NoError(t, err)
	}
	for _, sub := range []id.ID{f.sub, ofOther, healthy} {
		f.sent(sub, 2, webhook.DeliveryStateWaiting, -time.Hour) // due in an hour
	}
	for name, c := range map[string]struct {
		of      webhookports.ProbeFilter
		want    webhookports.ProbeResult
		subject string
	}{
		"a subscription": {webhookports.ProbeFilter{SubscriptionID: f.sub},
			webhookports.ProbeResult{Circuits: 1, Deliveries: 2}, id.Subscription.Of(f.sub)},
		"a partner": {webhookports.ProbeFilter{PartnerID: other.Partner.ID},
			webhookports.ProbeResult{Circuits: 1, Deliveries: 2}, id.Partner.Of(other.Partner.ID)},
		"all":                     {webhookports.ProbeFilter{}, webhookports.ProbeResult{Circuits: 2, Deliveries: 4}, "webhooks"},
		"those that failed since": {webhookports.ProbeFilter{FailedSince: time.Now()}, webhookports.ProbeResult{}, "webhooks"},
		"a healthy one": {webhookports.ProbeFilter{SubscriptionID: healthy}, webhookports.ProbeResult{},
			id.Subscription.Of(healthy)},
	} {
		hold()
		_, err := f.Pool.Exec(t.Context(), `UPDATE deliveries SET due_at = now() + interval '1 hour'`)
		require.NoError(t, err)
		entry := fmt.Sprintf(
			`actor = 'admin' AND action = 'webhook.probe' AND subject = '%s' AND detail ->> 'circuits' = '%d' AND detail ->> 'deliveries' = '%d'`,
			c.subject, c.want.Circuits, c.want.Deliveries)
		entries := f.Count("audit_log", entry)
		got, err := f.Webhooks.ProbeEndpoints(t.Context(), c.of)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want.Circuits,
			f.Count("webhook_subscriptions", "held_until <= now() AND holds = 0 AND failures = 30"), name)
		require.Equal(t, c.want.Deliveries, f.Count("deliveries", "due_at <= now()"), name)
		require.Equal(t, entries+1, f.Count("audit_log", entry), name)
	}
	_, err := f.Webhooks.ProbeEndpoints(t.Context(), webhookports.ProbeFilter{SubscriptionID: servicetest.NewID()})
	require.ErrorIs(t, err, webhook.ErrNotFound)
	f.enable(false)
	_, err = f.Webhooks.ProbeEndpoints(t.Context(), webhookports.ProbeFilter{SubscriptionID: f.sub})
	require.ErrorIs(t, err, webhook.ErrDisabled)
}

func TestRedeliver_MakesANewDeliveryOfTheSameBytes_WhateverBecameOfTheFirst(t *testing.T) {
	f := newFixture(t)
	for _, state := range []webhook.DeliveryState{webhook.DeliveryStateWaiting, webhook.DeliveryStateDispatched,
		webhook.DeliveryStateSucceeded,
		webhook.DeliveryStateFailed} {
		original := f.sent(f.sub, 1, state, time.Hour)[0]
		before, err := f.Webhooks.GetDelivery(t.Context(), f.by.Partner.ID, f.sub, original)
		require.NoError(t, err)
		rings := f.rings.Load()

		made, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, original)
		require.NoError(t, err)
		require.Equal(t, rings+1, f.rings.Load())
		require.WithinDuration(t, time.Now(), made.CreatedAt, time.Minute)
		require.WithinDuration(t, time.Now(), made.DueAt, time.Minute)
		require.Empty(t, cmp.Diff(webhook.Delivery{
			ID: made.ID, SubscriptionID: f.sub, EventID: before.EventID, Event: before.Event, DepositID: before.DepositID,
			State: webhook.DeliveryStateWaiting,
			DueAt: made.DueAt, CreatedAt: made.ID.Time(), RedeliveryOf: original, BodySHA256: before.BodySHA256,
		}, made))

		kept, err := f.Webhooks.GetDelivery(t.Context(), f.by.Partner.ID, f.sub, made.ID)
		require.NoError(t, err)
		require.Equal(t, before.Body, kept.Body)
		after, err := f.Webhooks.GetDelivery(t.Context(), f.by.Partner.ID, f.sub, original)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(before, after), "the first one stays as it was")
	}
}

func TestRedeliver_OfARedelivery_IsOneOfTheOriginal_AndOfATestATest(t *testing.T) {
	f := newFixture(t)
	original := f.sent(f.sub, 1, webhook.DeliveryStateFailed, time.Hour)[0]
	test := webhook.Delivery{ID: servicetest.NewID(), SubscriptionID: f.sub, EventID: servicetest.NewID(),
		DepositID: servicetest.NewID(), Event: webhook.EventDepositActivated, Test: true, Body: []byte(`{}`)}
	f.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Deliveries.InsertTest(ctx, test) })
	_, err := f.Pool.Exec(t.Context(), `UPDATE deliveries SET state = 3, due_at = NULL, finished_at = now() WHERE test`)
	require.NoError(t, err)
	for _, of := range []id.ID{original, test.ID} {
		again := of
		for range 3 {
			made, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, again)
			require.NoError(t, err)
			require.Equal(t, of, made.RedeliveryOf)
			require.Equal(t, of == test.ID, made.Test)
			_, err = f.Pool.Exec(t.Context(), `UPDATE deliveries SET state = 3, due_at = NULL, finished_at = now() WHERE test`)
			require.NoError(t, err)
			require.NotEqual(t, again, made.ID)
			again = made.ID
		}
	}
	require.Equal(t, map[id.ID]int{original: 3, test.ID: 3}, f.repeated(f.sub))
}

func TestRedeliver_OfAnotherOrADeletedSubscription_IsRefused(t *testing.T) {
	f := newFixture(t)
	mine := f.sent(f.sub, 1, webhook.DeliveryStateFailed, time.Hour)[0]
	_, err := f.Webhooks.Redeliver(t.Context(), f.by, f.subscribe(f.by), mine)
	require.ErrorIs(t, err, webhook.ErrDeliveryNotFound)
	require.NoError(t, f.Webhooks.Delete(t.Context(), f.by, f.sub))
	_, err = f.Webhooks.Redeliver(t.Context(), f.by, f.sub, mine)
	require.ErrorIs(t, err, webhook.ErrNotFound)
}
