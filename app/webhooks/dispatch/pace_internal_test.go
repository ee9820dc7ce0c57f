package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayed is an outbox from which each relay takes events.
type relayed struct {
	webhookports.RelayStore
	webhookports.DispatchMetrics
	events int
}

func (r relayed) Relay(context.Context, int, time.Duration, webhookports.PlanDeliveriesFunc) (int, []webhookports.Claim, error) {
	return r.events, nil, nil
}

func (relayed) CountRelayed(int) {}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func TestRelay_KeepsItsPace_AndWaitsForNothingAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bell := make(chan struct{}, 1)
		outbox := relayed{events: 8}
		d := &Dispatcher{config: Config{Batch: 500}, Deps: Deps{
			Clock: wallClock{}, Relay: outbox, Metrics: outbox, RingFeeds: func([]id.ID) {}, Bell: bell,
		}}
		took := func() time.Duration {
			began := time.Now()
			require.True(t, d.drainOutbox(t.Context()))
			return time.Since(began)
		}
		require.Zero(t, took(), "the first")
		bell <- struct{}{}
		require.Equal(t, relayPace, took())
		require.Empty(t, bell, "the relay has read what that ring announced")
		<-time.After(time.Second)
		require.Zero(t, took())
		d.nextRelay = time.Now().Add(time.Hour) // the clock was set back
		require.Equal(t, relayPace, took())
	})
}

func TestPolls_AreCalmWhileTheBellWorks_AndQuickAfterASurprise(t *testing.T) {
	const quick = 50 * time.Millisecond
	works := true
	p := polls{quick: quick, works: func() bool { return works }}
	now := time.Unix(1_790_000_000, 0)
	require.Equal(t, calmPoll, p.wait(now))

	works = false
	require.Equal(t, quick, p.wait(now), "rings may be lost")
	works = true

	p.surprised(now)
	p.rung(now.Add(lateRing - 1))
	require.Equal(t, calmPoll, p.wait(now.Add(lateRing)), "the poll came between a commit and its ring")

	p.surprised(now)
	p.rung(now.Add(lateRing))
	require.Equal(t, quick, p.wait(now.Add(suspicion-1)), "that ring announced another event")
	require.Equal(t, calmPoll, p.wait(now.Add(suspicion)))
}

// timed is a registry with a clock that the test moves.
type timed struct {
	*registry
	at time.Time
}

func newTimed(slots int) *timed {
	x := &timed{at: time.Unix(1_000_000, 0)}
	x.registry = newRegistry(Config{Concurrency: 64, EndpointConcurrency: slots, Window: 1000},
		func() time.Time { return x.at })
	return x
}

func (x *timed) after(d time.Duration) { x.at = x.at.Add(d) }

func (x *timed) delay(due time.Time) time.Duration { return x.delayOf(webhook.HeldPeriod{}, due) }

func (x *timed) delayOf(held webhook.HeldPeriod, due time.Time) time.Duration {
	return x.startDelay(&webhookports.Delivery{Claim: webhookports.Claim{SubscriptionID: id.ID{1}}, Held: held}, due, x.at)
}

func claimOf(n byte) webhookports.Claim {
	return webhookports.Claim{DeliveryID: id.ID{n}, SubscriptionID: id.ID{1}, Seq: 1}
}

func TestStartDelay_OfAHealthyEndpoint_IsTheTimeSinceDue(t *testing.T) {
	x := newTimed(2)
	due := x.at
	x.after(7 * time.Second)
	require.Equal(t, 7*time.Second, x.delay(due), "nothing is known of the endpoint")
	x.slot(claimOf(1), false)
	x.after(time.Second)
	require.Equal(t, 8*time.Second, x.delay(due), "a slot is free")
	require.Zero(t, x.delay(x.at.Add(time.Second)), "clocks differ a little")
}

func TestStartDelay_WhileAllSlotsAreInUse_IsTheEndpointsOwn(t *testing.T) {
	x := newTimed(2)
	outage := x.at
	x.after(10 * time.Minute) // no dispatcher ran
	x.slot(claimOf(1), false)
	x.slot(claimOf(2), false)
	for range 20 { // slots are free for moments only
		x.after(3 * time.Second)
		x.free(id.ID{1})
		x.after(time.Second)
		x.slot(claimOf(3), false)
	}
	require.Equal(t, 10*time.Minute, x.delay(outage), "the service was away, then the endpoint was busy")
	require.Zero(t, x.delay(outage.Add(10*time.Minute)))
	x.free(id.ID{1})
	x.after(time.Minute)
	require.Equal(t, time.Minute, x.delay(x.at.Add(-80*time.Second)), "a minute with a free slot")
}

func TestStartDelay_AfterBadHealth_CountsFromItsEnd(t *testing.T) {
	x := newTimed(4)
	sub := func(h webhook.Health) []webhookports.Subscription {
		return []webhookports.Subscription{{ID: id.ID{1}, Health: h}}
	}
	due := x.at
	x.observe(sub(webhook.Health{}))
	x.after(2 * time.Second)
	x.observe(sub(webhook.Health{Failures: 1}))
	x.after(time.Hour)
	require.Equal(t, 2*time.Second, x.delay(due))
	x.observe(sub(webhook.Health{}))
	x.after(3 * time.Second)
	require.Equal(t, 5*time.Second, x.delay(due))
}

// After a restart nobody knows since when an endpoint has been in bad health: at least since its deliveries wait.
func TestStartDelay_OfAnEndpointFirstMetInBadHealth_DoesNotCountTheTimeBefore(t *testing.T) {
	x := newTimed(4)
	due := x.at
	x.after(time.Hour)
	x.observe([]webhookports.Subscription{{ID: id.ID{1}, Health: webhook.Health{Ramp: 2}}})
	require.Zero(t, x.delay(due))
	x.observe([]webhookports.Subscription{{ID: id.ID{1}}})
	x.after(time.Second)
	require.Equal(t, time.Second, x.delay(due))
}

// The row knows when the circuit held deliveries back, though this dispatcher began, or forgot the endpoint, since
// then.
func TestStartDelay_OfABacklogOfACircuit_IsNoDelayOfADispatcherThatSawNoneOfIt(t *testing.T) {
	x := newTimed(4)
	held := webhook.HeldPeriod{From: x.at, Till: x.at.Add(10 * time.Minute)}
	early, inTheBreak := x.at.Add(-3*time.Second), x.at.Add(time.Minute)
	x.after(10*time.Minute + 20*time.Second)
	x.slot(claimOf(1), false)
	behind := x.at.Add(-15 * time.Second)
	require.Equal(t, 15*time.Second, x.delayOf(held, behind), "no delivery of the break was met yet")
	require.Equal(t, 23*time.Second, x.delayOf(held, early), "it was due before, and has waited since")
	require.Negative(t, x.delayOf(held, inTheBreak))
	x.after(2 * time.Second)
	require.Equal(t, 2*time.Second, x.delayOf(held, behind), "it waited behind the backlog until then")
	require.Equal(t, 2*time.Second, x.delayOf(held, early))
	require.Equal(t, time.Second, x.delayOf(held, x.at.Add(-time.Second)))
	goesOn := webhook.HeldPeriod{From: held.From}
	require.Equal(t, time.Second, x.delayOf(goesOn, x.at.Add(-time.Second)), "the end is not known")
}
