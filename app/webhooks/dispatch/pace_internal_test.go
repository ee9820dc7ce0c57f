package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayed is an outbox from which each relay takes events.
type relayed struct {
	webhookports.RelayStore
	webhookports.DispatchMetrics
	events int
}

func (r relayed) Relay(context.Context, int, time.Duration, webhookports.Plan,
	func([]webhookports.Claim)) (int, []webhookports.Claim, error) {
	return r.events, nil, nil
}

func (relayed) Relayed(int) {}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func TestRelay_KeepsItsPace_AndWaitsForNothingAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bell := make(chan struct{}, 1)
		outbox := relayed{events: fewEvents}
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
		require.Equal(t, manyPace, took())
	})
}
