//go:build !unit

package webhooks_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

func TestRedeliver_MakesANewDeliveryOfTheSameBytes_WhateverBecameOfTheFirst(t *testing.T) {
	f := newFixture(t)
	for _, state := range []webhook.State{webhook.Waiting, webhook.Dispatched, webhook.Succeeded, webhook.Failed} {
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
			State: webhook.Waiting,
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

func TestRedeliver_OfARedelivery_IsOneOfTheOriginal(t *testing.T) {
	f := newFixture(t)
	original := f.sent(f.sub, 1, webhook.Failed, time.Hour)[0]
	again := original
	for range 3 {
		made, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, again)
		require.NoError(t, err)
		require.Equal(t, original, made.RedeliveryOf)
		require.NotEqual(t, again, made.ID)
		again = made.ID
	}
	require.Equal(t, map[id.ID]int{original: 3}, f.repeated(f.sub))
}

func TestRedeliver_OfATest_StaysATest(t *testing.T) {
	f := newFixture(t)
	d := webhook.Delivery{ID: servicetest.NewID(), SubscriptionID: f.sub, EventID: servicetest.NewID(),
		DepositID: servicetest.NewID(), Event: webhook.DepositActivated, Test: true, Body: []byte(`{}`)}
	f.Write(func(ctx context.Context, r *postgres.Store) error { return r.Deliveries.InsertTest(ctx, d) })
	made, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, d.ID)
	require.NoError(t, err)
	require.True(t, made.Test)
	require.Equal(t, d.ID, made.RedeliveryOf)
}

func TestRedeliver_Refusals_LeaveNothing(t *testing.T) {
	f := newFixture(t)
	mine := f.sent(f.sub, 1, webhook.Failed, time.Hour)[0]
	other := f.subscribe(f.by)
	stranger := f.caller("stranger")
	before := f.rows()
	refused := func(want error, subscriptionID, deliveryID id.ID) {
		t.Helper()
		_, err := f.Webhooks.Redeliver(t.Context(), f.by, subscriptionID, deliveryID)
		require.ErrorIs(t, err, want)
		require.Equal(t, before, f.rows())
	}
	refused(webhook.ErrDeliveryNotFound, f.sub, servicetest.NewID())
	refused(webhook.ErrDeliveryNotFound, other, mine)
	refused(webhook.ErrNotFound, servicetest.NewID(), mine)
	refused(webhook.ErrNotFound, f.subscribe(stranger), mine)
	f.enable(false)
	before = f.rows()
	refused(webhook.ErrDisabled, f.sub, mine)
	require.NoError(t, f.Webhooks.Delete(t.Context(), f.by, f.sub))
	before = f.rows()
	refused(webhook.ErrNotFound, f.sub, mine)
}
