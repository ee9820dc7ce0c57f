//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// again returns the service that redelivers, and a caller for it.
func (f *fixture) again() (*webhooks.Service, partner.Caller) {
	return webhooks.New(webhooks.Deps{
		UnitOfWork: f.Postgres, Subscriptions: f.Postgres.Subscriptions, Deliveries: f.Postgres.Deliveries,
		Replays: f.Postgres.Replays, Audit: f.Postgres.Audit, Doorbell: f, Clock: system.Clock{}, Entropy: system.Entropy{},
		After: time.After,
	}), partner.Caller{Partner: partner.Partner{ID: f.partner}}
}

// log gives the deliveries of sub, the newest first.
func (f *fixture) log(sub id.ID) []webhook.Delivery {
	f.t.Helper()
	list, err := f.Postgres.Deliveries.Deliveries(context.WithoutCancel(f.t.Context()), sub, webhookports.DeliveryFilter{},
		ports.Page{Limit: 100})
	require.NoError(f.t, err)
	return list.Items
}

func TestDispatch_ARedelivery_HasTheSameBytesAndAFreshSignature(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	sub := f.subscribe(r.URL)
	f.run()
	f.emit(webhook.DepositActivated, 1)
	f.allIn(webhook.Succeeded, 1)
	service, by := f.again()
	rotated, err := service.RotateSecret(t.Context(), by, sub)
	require.NoError(t, err)
	r.rotate(rotated.Secret.Reveal())

	made, err := service.Redeliver(t.Context(), by, sub, f.log(sub)[0].ID)
	require.NoError(t, err)
	f.allIn(webhook.Succeeded, 2)
	got := r.all()
	require.Len(t, got, 2)
	require.True(t, got[1].valid, "signed with the secret in force now")
	require.Equal(t, []string{got[0].body, got[0].event}, []string{got[1].body, got[1].event})
	require.NotEqual(t, got[0].signature, got[1].signature)
	log := f.log(sub)
	require.Equal(t, made.ID, log[0].ID)
	require.Equal(t, log[1].ID, log[0].RedeliveryOf)
	require.Equal(t, log[1].BodySHA256, log[0].BodySHA256)
	require.Len(t, log[0].AttemptLog, 1)
}

func TestDispatch_ARedelivery_IsRetriedLikeAnyOther_ThatOfATestIsNot(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int { return http.StatusTeapot })
	sub := f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.Schedule = webhook.Schedule{0, 10 * time.Millisecond} })
	f.emit(webhook.DepositActivated, 1)
	f.Write(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Deliveries.InsertTest(ctx, webhook.Delivery{ID: newID(), SubscriptionID: sub, EventID: newID(),
			Event: webhook.DepositActivated, Body: []byte(`{}`)})
	})
	f.allIn(webhook.Failed, 2)
	service, by := f.again()
	for _, d := range f.log(sub) {
		_, err := service.Redeliver(t.Context(), by, sub, d.ID)
		require.NoError(t, err)
	}
	f.allIn(webhook.Failed, 4)
	for _, d := range f.log(sub) {
		want := 2
		if d.Test {
			want = 1
		}
		require.Equal(t, want, d.Attempts)
	}
}

// After a whole outage, two dispatchers share the replay of the failed deliveries.
func TestDispatch_AReplay_BringsWhatFailedOnceEach(t *testing.T) {
	f := newFixture(t)
	var up atomic.Bool
	r := newReceiver(t, func(received, int) int {
		if !up.Load() {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	sub := f.subscribe(r.URL)
	impatient := func(_ *dispatch.Deps, c *dispatch.Config) { c.Schedule = webhook.Schedule{0} }
	f.run(impatient)
	f.run(impatient)
	f.emit(webhook.DepositCancelled, 70)
	f.allIn(webhook.Failed, 70)
	failed := len(r.all())
	up.Store(true)

	service, by := f.again()
	replay, err := service.Replay(t.Context(), by, sub,
		webhooks.NewReplay{From: now().Add(-time.Hour), To: now().Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 70, replay.Matched)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	waiting := func(context.Context) (ports.Waiting, error) { return ports.Waiting{Replays: true}, nil }
	ended := make(chan error, 2)
	for range cap(ended) {
		go func() { ended <- schedules.New(quiet(), noMetrics{}, waiting, service.ReplayJob()).Run(ctx) }()
	}
	f.eventually("all that failed was sent again", func() bool { return f.states()[webhook.Succeeded] == 70 })
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	got := r.all()
	times := map[string]int{}
	for _, g := range got[failed:] {
		require.True(t, g.valid)
		times[g.body]++
	}
	require.Len(t, times, 70)
	require.Len(t, got, failed+70)
}
