//go:build !unit

package webhooks_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

var errCrash = errors.New("the process died")

// fragile fails at random: before a transaction commits, or after the commit, as if the response were lost.
type fragile struct {
	ports.UnitOfWork
	deaths *int
}

func (u fragile) WithinTx(ctx context.Context, fn func(context.Context) error) error {
	fate := rand.IntN(3)
	err := u.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		if fate == 0 {
			return errCrash
		}
		return nil
	})
	if err == nil && fate == 1 {
		err = errCrash
	}
	if errors.Is(err, errCrash) {
		*u.deaths++
	}
	return err
}

func TestReplay_ACrashBetweenOrWithinSteps_LosesNoneAndRepeatsNone(t *testing.T) {
	f := newFixture(t)
	failed := f.sent(f.sub, 730, webhook.DeliveryStateFailed, time.Minute)
	f.replay(f.sub, "")
	deaths := 0
	dying := f.over(fragile{f.Postgres, &deaths})
	for range 1000 {
		if f.open() == 0 {
			break
		}
		if _, err := dying.AdvanceReplay(t.Context()); err != nil {
			require.ErrorIs(t, err, errCrash)
		}
		f.answered()
		f.clock.Add(10 * time.Second)
	}
	require.Zero(t, f.open())
	require.Positive(t, deaths)
	require.Equal(t, once(failed), f.repeated(f.sub))
	require.Equal(t, 1, f.Count("webhook_replays", "made = 730"))
}

func TestReplays_ManyDispatchersAtOnce_EachDeliveryOnceAndAtThePaceOfItsPartner(t *testing.T) {
	f := newFixture(t)
	second, theirs := f.subscribe(f.by), f.subscribe(f.caller("other"))
	originals := map[id.ID][]id.ID{}
	for _, sub := range []id.ID{f.sub, second, theirs} {
		originals[sub] = f.sent(sub, 330, webhook.DeliveryStateSucceeded, time.Minute)
		f.byStaff(sub)
	}
	for step := 1; step <= 14; step++ {
		f.dispatchers(6)
		f.steps() // replays that a dispatcher skipped because they were locked
		// The partner's two subscriptions take turns.
		for sub, steps := range map[id.ID]int{f.sub: (step + 1) / 2, second: step / 2, theirs: step} {
			require.Equal(t, once(originals[sub][:min(50*steps, 330)]), f.repeated(sub))
		}
		f.answered()
		f.clock.Add(time.Second)
	}
	require.Zero(t, f.open())
}

type deliveries = webhookports.DeliveryStore

// spoiled fails every redelivery of a subscription.
type spoiled struct {
	deliveries
	sub id.ID
}

func (d spoiled) InsertRedeliveries(ctx context.Context, sub id.ID,
	copies []webhookports.Redelivery) ([]webhook.Delivery, error) {
	if sub == d.sub {
		return nil, fault.ErrUnavailable
	}
	return d.deliveries.InsertRedeliveries(ctx, sub, copies)
}

func TestReplay_ThatCannotGoOn_DoesNotHoldUpOthers(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 10, webhook.DeliveryStateFailed, time.Minute)
	f.replay(f.sub, "")
	f.clock.Add(time.Millisecond)
	other := f.subscribe(f.by)
	theirs := f.sent(other, 10, webhook.DeliveryStateFailed, time.Minute)
	f.replay(other, "")
	service := f.BuildServices(func(p *servicetest.Deps) { p.Deliveries = spoiled{p.Deliveries, f.sub} }).Webhooks
	advanced, err := service.AdvanceReplay(t.Context())
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.False(t, advanced)
	advanced, err = service.AdvanceReplay(t.Context())
	require.NoError(t, err)
	require.True(t, advanced)
	require.Equal(t, once(theirs), f.repeated(other))
	require.Zero(t, f.steps())
	f.clock.Add(time.Minute)
	require.Equal(t, 1, f.steps(), "and it is tried again")
	require.Len(t, f.repeated(f.sub), 10)
}
