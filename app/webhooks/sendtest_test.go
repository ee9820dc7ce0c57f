//go:build !unit

package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

func TestTest_BeyondTwoInFlight_IsRefused(t *testing.T) {
	f := newFixture(t)
	second := f.subscribe(f.by)
	test := func(sub id.ID) (webhook.Delivery, error) { return f.Webhooks.SendTestDelivery(t.Context(), f.by, sub) }
	refused := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, webhook.ErrTooManyTestDeliveries)
		require.Positive(t, fault.FromError(err).RetryAfter)
	}
	ended := func(test webhook.Delivery, set string) {
		t.Helper()
		_, err := f.Pool.Exec(t.Context(), `UPDATE deliveries SET `+set+` WHERE id = $1`, test.ID)
		require.NoError(t, err)
	}
	one, err := test(f.sub)
	require.NoError(t, err)
	two, err := test(second)
	require.NoError(t, err)
	_, err = test(f.sub)
	refused(err)
	_, err = test(second)
	refused(err)
	_, err = f.Webhooks.Redeliver(t.Context(), f.by, f.sub, one.ID)
	refused(err)
	require.Equal(t, 2, f.Count("deliveries", "true"), "a refusal leaves nothing")

	other := f.caller("other")
	_, err = f.Webhooks.SendTestDelivery(t.Context(), other, f.subscribe(other))
	require.NoError(t, err, "another partner")
	original := f.sent(f.sub, 1, webhook.DeliveryStateFailed, time.Hour)[0]
	_, err = f.Webhooks.Redeliver(t.Context(), f.by, f.sub, original)
	require.NoError(t, err, "a redelivery of an event is no test")

	ended(one, `state = 1, due_at = now() + interval '30 seconds'`)
	_, err = test(f.sub)
	refused(err)
	ended(one, `state = 2, due_at = NULL, finished_at = now(), taken_at = now()`)
	again, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, one.ID)
	require.NoError(t, err)
	_, err = test(f.sub)
	refused(err)
	ended(again, `state = 3, due_at = NULL, finished_at = now()`)
	ended(two, `due_at = NULL`) // parked, since its subscription was disabled
	for range 2 {
		_, err = test(f.sub)
		require.NoError(t, err)
	}
}

func TestTest_ManyAtOnce_AreTwo(t *testing.T) {
	f := newFixture(t)
	subs := []id.ID{f.sub, f.subscribe(f.by), f.subscribe(f.by)}
	errs := make(chan error, 30)
	var all sync.WaitGroup
	for n := range cap(errs) {
		all.Go(func() {
			_, err := f.Webhooks.SendTestDelivery(context.WithoutCancel(t.Context()), f.by, subs[n%len(subs)])
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	made := 0
	for err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, webhook.ErrTooManyTestDeliveries)
	}
	require.Equal(t, 2, made)
	require.Equal(t, 2, f.Count("deliveries", "test"))
}

// A ring of the dispatcher ends the wait, and the delivery is read no more often.
func TestTest_WaitsForTheRing(t *testing.T) {
	f := newFixture(t)
	waiting := events.NewWaitingRequests()
	waits := make(chan time.Duration, 10)
	service := f.BuildServices(func(p *servicetest.Deps) {
		p.Waiting, p.After = waiting, func(d time.Duration) <-chan time.Time {
			waits <- d
			return nil
		}
	}).Webhooks
	answered := make(chan webhook.Delivery, 1)
	go func() {
		d, _ := service.SendTestDelivery(context.WithoutCancel(t.Context()), f.by, f.sub)
		answered <- d
	}()
	require.Equal(t, 12*time.Second, <-waits)
	require.Equal(t, time.Second, <-waits, "has read the delivery")
	require.Equal(t, 1, waiting.Size())
	_, err := f.Pool.Exec(t.Context(), `UPDATE deliveries SET state = 2, due_at = NULL, finished_at = now(), taken_at = now()`)
	require.NoError(t, err)
	waiting.WakePartners([]id.ID{servicetest.NewID()})
	waiting.WakePartners([]id.ID{f.by.Partner.ID})
	require.Equal(t, webhook.DeliveryStateSucceeded, (<-answered).State)
	require.Zero(t, waiting.Size())
	require.Empty(t, waits)
}
