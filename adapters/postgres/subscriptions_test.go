package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestSubscriptions_Insert_IsReadBack(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	s := newSubscription(p.ID, at0)
	s.Events, s.Standard = []webhook.EventName{webhook.DepositActivated, webhook.DepositStatusChanged}, true
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
	})
	got, err := w.Subscriptions.Subscription(t.Context(), p.ID, s.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(s, got))
	w.do(func(ctx context.Context, r *postgres.Store) error {
		locked, err := r.Subscriptions.ForUpdate(ctx, p.ID, s.ID)
		require.Empty(t, cmp.Diff(s, locked))
		return err
	})
}

func TestSubscriptions_OfOthers_AreNotFound(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	for _, partnerID := range []id.ID{w.partner().ID, portstest.NewID()} {
		_, err := w.Subscriptions.Subscription(t.Context(), partnerID, s.ID)
		require.ErrorIs(t, err, webhook.ErrNotFound)
		require.ErrorIs(t, w.try(func(ctx context.Context, r *postgres.Store) error {
			_, err := r.Subscriptions.ForUpdate(ctx, partnerID, s.ID)
			return err
		}), webhook.ErrNotFound)
	}
}

func TestSubscriptions_Insert_ManyAtOnce_StopAtTheLimit(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	ended := w.race(func(int) error {
		return w.try(func(ctx context.Context, r *postgres.Store) error {
			return r.Subscriptions.Insert(ctx, newSubscription(p.ID, at0), "svc_whsec_a")
		})
	})
	require.Equal(t, map[string]int{"<nil>": webhook.MaxSubscriptions,
		webhook.ErrLimitReached.Error(): racers - webhook.MaxSubscriptions}, ended)
	list, err := w.Subscriptions.Subscriptions(t.Context(), p.ID, ports.Page{Limit: 100})
	require.NoError(t, err)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		if err := r.Subscriptions.Delete(ctx, list.Items[0].ID, at0); err != nil {
			return err
		}
		return r.Subscriptions.Insert(ctx, newSubscription(p.ID, at0), "svc_whsec_a") // a deleted subscription does not count
	})
	w.subscribe(w.partner().ID) // the limit of a partner does not bound another partner
}

func TestSubscriptions_Update_StoresWhatMayChange(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	s.URL, s.Events, s.Enabled, s.DisabledReason = "https://pms.example/v2", []webhook.EventName{webhook.DepositCaptured},
		false, webhook.DisabledByPartner
	s.Standard = true
	w.update(s)
	got, err := w.Subscriptions.Subscription(t.Context(), s.PartnerID, s.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(s, got))
}

func TestSubscriptions_Update_Unknown_IsNotFound(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	require.ErrorIs(t, w.try(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Update(ctx, newSubscription(p.ID, at0), webhook.ReleasePerSecond)
	}), webhook.ErrNotFound)
}

func TestSubscriptions_Disabled_ParksAndEnabledReleasesItsDeliveries(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	for range 3 {
		w.testDelivery(s, at0)
	}
	due := func() (n int) {
		list, err := w.Deliveries.Deliveries(t.Context(), s.ID, webhookports.DeliveryFilter{}, ports.Page{Limit: 100})
		require.NoError(t, err)
		for _, d := range list.Items {
			require.Equal(t, webhook.Waiting, d.State)
			if !d.DueAt.IsZero() {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, due())
	s.Enabled, s.DisabledReason = false, webhook.DisabledByPartner
	w.update(s)
	require.Zero(t, due())
	s.Enabled, s.DisabledReason = true, ""
	w.update(s)
	require.Equal(t, 3, due())
}

func TestSubscriptions_Delete_IsGoneAndCancelsWhatWaits(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	d := w.testDelivery(s, at0)
	for range 2 { // the second call changes nothing
		w.do(func(ctx context.Context, r *postgres.Store) error { return r.Subscriptions.Delete(ctx, s.ID, at0) })
	}
	_, err := w.Subscriptions.Subscription(t.Context(), s.PartnerID, s.ID)
	require.ErrorIs(t, err, webhook.ErrNotFound)
	list, err := w.Subscriptions.Subscriptions(t.Context(), s.PartnerID, ports.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list.Items)
	got, err := w.Deliveries.Delivery(t.Context(), s.ID, d.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.Cancelled, got.State)
	require.Zero(t, got.DueAt)
}

func TestSubscriptions_List_IsNewestFirst(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	var want []id.ID
	for i := range 5 {
		s := newSubscription(p.ID, at0.Add(time.Duration(i)*time.Minute))
		w.do(func(ctx context.Context, r *postgres.Store) error {
			return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
		})
		want = append([]id.ID{s.ID}, want...)
	}
	w.subscribe(w.partner().ID)
	got := walk(t, func(page ports.Page) (ports.List[webhook.Subscription], error) {
		return w.Subscriptions.Subscriptions(t.Context(), p.ID, page)
	})
	require.Equal(t, want, idsOf(got, func(s webhook.Subscription) id.ID { return s.ID }))
}

func TestDeliveries_InsertTest_IsDueAtOnceWithItsBytes(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	d := w.testDelivery(s, at0)
	got, err := w.Deliveries.Delivery(t.Context(), s.ID, d.ID)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), got.DueAt, time.Minute)
	sum := sha256.Sum256(d.Body)
	d.BodySHA256, d.DueAt = hex.EncodeToString(sum[:]), got.DueAt
	require.Empty(t, cmp.Diff(d, got))
}

func TestDeliveries_OfOthers_AreNotFound(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	d := w.testDelivery(s, at0)
	for subscriptionID, deliveryID := range map[id.ID]id.ID{portstest.NewID(): d.ID, s.ID: portstest.NewID()} {
		_, err := w.Deliveries.Delivery(t.Context(), subscriptionID, deliveryID)
		require.ErrorIs(t, err, webhook.ErrDeliveryNotFound)
	}
}

func TestDeliveries_List_FiltersPagesAndLeavesBodiesOut(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	w.testDelivery(w.subscribe(s.PartnerID), at0)
	var all []webhook.Delivery
	for i := range 5 {
		all = append([]webhook.Delivery{w.testDelivery(s, at0.Add(time.Duration(i)*time.Minute))}, all...)
	}
	for name, c := range map[string]struct {
		filter webhookports.DeliveryFilter
		want   []webhook.Delivery
	}{
		"all":       {webhookports.DeliveryFilter{}, all},
		"pending":   {webhookports.DeliveryFilter{Status: webhook.StatusPending}, all},
		"retrying":  {webhookports.DeliveryFilter{Status: webhook.StatusRetrying}, nil},
		"succeeded": {webhookports.DeliveryFilter{Status: webhook.StatusSucceeded}, nil},
		"failed":    {webhookports.DeliveryFilter{Status: webhook.StatusFailed}, nil},
		"event":     {webhookports.DeliveryFilter{Event: webhook.DepositActivated}, all},
		"no event":  {webhookports.DeliveryFilter{Event: webhook.DepositExpired}, nil},
		"deposit":   {webhookports.DeliveryFilter{DepositID: all[2].DepositID}, all[2:3]},
		"span": {webhookports.DeliveryFilter{Created: ports.Span{From: all[3].CreatedAt, To: all[0].CreatedAt}},
			all[1:4]},
	} {
		got := walk(t, func(page ports.Page) (ports.List[webhook.Delivery], error) {
			return w.Deliveries.Deliveries(t.Context(), s.ID, c.filter, page)
		})
		deliveryID := func(d webhook.Delivery) id.ID { return d.ID }
		require.Equal(t, idsOf(c.want, deliveryID), idsOf(got, deliveryID), name)
		for _, d := range got {
			require.Nil(t, d.Body)
			require.Len(t, d.BodySHA256, 2*sha256.Size)
		}
	}
}

func (w *pooledStore) update(s webhook.Subscription) {
	w.t.Helper()
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Update(ctx, s, webhook.ReleasePerSecond)
	})
}
