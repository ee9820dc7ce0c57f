package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports/platform/outage"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayed is an outbox from which each relay takes events.
type relayed struct {
	webhookports.RelayStore
	webhookports.DispatchMetrics
	events int
}

func (r relayed) Relay(context.Context, int, time.Duration, webhookports.PlanDeliveriesFunc) (
	int, []webhookports.Claim, error) {
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

func TestRegistry_Fills_FromAQuarterOfAWindowOn(t *testing.T) {
	r := newRegistry(Config{Concurrency: 256, EndpointConcurrency: 4, Window: 1000}, time.Now) // windows of 32
	require.False(t, r.used())
	sub := line{r: r, sub: [16]byte{1}}.sub
	now := time.Unix(1_790_000_000, 0)
	for range r.window()/fillingShare - 1 {
		require.True(t, r.admit(sub, now))
	}
	require.True(t, r.used())
	require.False(t, r.fills())
	require.True(t, r.admit(sub, now))
	require.True(t, r.fills())
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

// testedQueue answers each test of the queue with the next error.
type testedQueue struct {
	webhookports.JobQueue
	answers []error
}

func (q *testedQueue) CheckWritable(context.Context) (err error) {
	err, q.answers = q.answers[0], q.answers[1:]
	return err
}

func TestReturned_AfterFourGoodTestsInARow(t *testing.T) {
	t.Parallel()
	full := errors.New("OOM")
	queue := &testedQueue{answers: []error{nil, nil, nil, full, full, nil, nil, nil, nil}}
	log := slog.New(slog.DiscardHandler)
	x := &transport{d: &Dispatcher{Deps: Deps{Queue: queue, Metrics: anyMetrics{}}}, queue: outage.New(log)}
	x.away.Store(true)
	for range len(queue.answers) - 1 {
		require.False(t, x.returned(t.Context()))
		require.True(t, x.away.Load())
	}
	require.True(t, x.returned(t.Context()))
	require.False(t, x.away.Load())
}

type anyMetrics struct{ webhookports.DispatchMetrics }

func (anyMetrics) SetQueueMode(webhookports.QueueMode) {}

func claimOf(n byte) webhookports.Claim {
	return webhookports.Claim{DeliveryID: id.ID{n}, SubscriptionID: id.ID{1}, Seq: 1}
}

// started counts start delays.
type started struct {
	countedAttempts
	delays []time.Duration
}

func (s *started) ObserveStartDelay(delay time.Duration, _ string) {
	s.delays = append(s.delays, delay)
}

func TestStartDelay_OfAHealthyEndpoint_IsTheTimeSinceDueIfKnown(t *testing.T) {
	t.Parallel()
	const unknown = -1
	for name, c := range map[string]struct {
		due      time.Time
		measured bool
		failing  bool
		lacked   string
		want     []time.Duration
		known    time.Duration
	}{
		"due before":      {noon.Add(3 * time.Second), true, false, "", []time.Duration{7 * time.Second}, 7 * time.Second},
		"clocks differ":   {noon.Add(11 * time.Second), true, false, "", []time.Duration{0}, 0},
		"not known":       {time.Time{}, true, false, "", nil, unknown},
		"behind its own":  {noon, false, false, "", nil, unknown},
		"failing":         {noon, true, true, "", nil, 10 * time.Second},
		"put off":         {noon, true, false, "no port", []time.Duration{11 * time.Second}, unknown},
		"put off a retry": {time.Time{}, true, false, "no port", []time.Duration{time.Second}, unknown},
	} {
		counted := &started{}
		d := New(Deps{Sender: failingSender{webhook.Attempt{Result: webhook.ResultTimeout, Lacked: c.lacked}},
			Clock: fixedClock(noon), Metrics: counted, Random: func() float64 { return 0.5 },
			Log: slog.New(slog.DiscardHandler)}, Config{Schedule: webhook.RetrySchedule{0, time.Hour}, Timeout: time.Second})
		claim := webhookports.Claim{Seq: 1, DueAt: c.due}
		o, made := d.attempt(t.Context(), claim, &webhookports.Delivery{Claim: claim, Found: true, Current: true,
			Enabled: true, Healthy: !c.failing, LeaseLeft: time.Minute, ReadAt: noon, Skew: 10 * time.Second}, c.measured)
		require.True(t, made, name)
		require.Equal(t, c.want, counted.delays, name)
		require.Equal(t, c.known, o.StartDelay, name)
	}
}

// A delivery that waits for a POST of its own endpoint is held back by the endpoint, and not by the process.
func TestSlot_TellsForWhoseSlotADeliveryWaits(t *testing.T) {
	t.Parallel()
	r := newRegistry(Config{Concurrency: 8, EndpointConcurrency: 2, Window: 1000}, time.Now)
	require.Nil(t, r.slot(claimOf(1), false))
	require.Nil(t, r.slot(claimOf(2), false))
	require.True(t, r.slot(claimOf(3), false).ownFull)
	for n := range byte(8) {
		r.slot(webhookports.Claim{SubscriptionID: id.ID{10 + n}}, false)
	}
	wait := r.slot(webhookports.Claim{SubscriptionID: id.ID{20}}, false)
	require.NotNil(t, wait)
	require.False(t, wait.ownFull)
}
