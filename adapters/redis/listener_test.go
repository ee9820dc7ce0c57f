package redis_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/lab/redistest"
)

func heard(rings <-chan struct{}) bool {
	select {
	case <-rings:
		return true
	default:
		return false
	}
}

func TestListener_KnowsWhetherTheBellWorks_AndSignalsAllAfterAnOutage(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	l := listen(t, open(t, server.URL()))
	require.Eventually(t, l.ReceivesNotifications, 20*time.Second, 10*time.Millisecond)
	require.False(t, l.HasPeers())
	all := []<-chan struct{}{l.EventSignals(), l.DueDeliverySignals(), l.JobSignals()}
	for _, rings := range all {
		require.True(t, heard(rings), "rings before the first pulse may have been lost")
	}

	for _, outage := range []struct{ begin, end func() error }{ // a Redis that hangs, and one that dies
		{server.Pause, server.Resume},
		{server.Kill, func() error { return server.Restart(t.Context()) }},
	} {
		require.NoError(t, outage.begin())
		require.Eventually(t, func() bool { return !l.ReceivesNotifications() }, 20*time.Second, 10*time.Millisecond)
		require.NoError(t, outage.end())
		require.Eventually(t, l.ReceivesNotifications, 20*time.Second, 10*time.Millisecond)
		for _, rings := range all {
			require.Eventually(t, func() bool { return heard(rings) }, time.Second, time.Millisecond,
				"rings in the outage were lost")
		}
	}
}

func TestListener_ASubscriptionThatBreaks_IsMadeAgain_AndSignalsAll(t *testing.T) {
	t.Parallel()
	client := redistest.ServerClient(t, redistest.StartServer(t))
	l := listen(t, client)
	require.Eventually(t, l.ReceivesNotifications, 20*time.Second, time.Millisecond)
	require.True(t, heard(l.EventSignals()))
	require.NoError(t, client.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err())
	require.Eventually(t, func() bool { return heard(l.EventSignals()) }, 2*time.Second, time.Millisecond,
		"a ring between the subscriptions would be lost")
	require.True(t, l.ReceivesNotifications(), "the bell failed for a moment only")
}

func TestListener_TellsRingsApart_AndKnowsOthers(t *testing.T) {
	t.Parallel()
	client := redistest.ServerClient(t, redistest.StartServer(t))
	l := listen(t, client)
	require.Eventually(t, l.ReceivesNotifications, 20*time.Second, 10*time.Millisecond)
	all := map[string]<-chan struct{}{"events": l.EventSignals(), "due": l.DueDeliverySignals(),
		"jobs": l.JobSignals()}
	for name, rings := range all {
		require.True(t, heard(rings), name)
	}
	bell := redis.NewDoorbell(client, patient(t, client))
	t.Cleanup(bell.Close)
	for name, ring := range map[string]func(){
		"events": bell.WakeRelays, "due": bell.WakeScans, "jobs": bell.NotifyJobs,
	} {
		ring()
		require.Eventually(t, func() bool { return heard(all[name]) }, 20*time.Second, time.Millisecond, name)
		for other, rings := range all {
			require.False(t, heard(rings), "%s beside %s", other, name)
		}
	}

	require.False(t, l.HasPeers())
	second := redis.NewListener(client)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- second.Run(ctx) }()
	require.Eventually(t, l.HasPeers, 20*time.Second, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.Eventually(t, func() bool { return !l.HasPeers() }, 20*time.Second, 10*time.Millisecond)
}

func TestListener_OneLeads_AndAnotherAfterItsEnd(t *testing.T) {
	t.Parallel()
	client := redistest.ServerClient(t, redistest.StartServer(t))
	stops := map[*redis.Listener]func(){}
	for range 3 {
		l := redis.NewListener(client)
		require.True(t, l.IsLeader(), "it knows of nobody")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		stops[l] = func() { stop(); require.NoError(t, <-ended) }
	}
	for len(stops) > 0 {
		var leader *redis.Listener
		require.Eventually(t, func() bool {
			n := 0
			for l := range stops {
				if l.ReceivesNotifications() && l.IsLeader() {
					leader = l
					n++
				}
			}
			return n == 1
		}, 20*time.Second, 10*time.Millisecond)
		stops[leader]()
		delete(stops, leader)
	}
}
