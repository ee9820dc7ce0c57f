package redis_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/lab/redistest"
)

func TestAnnounceFeeds_DispatchersKnowWhileRequestsWait(t *testing.T) {
	t.Parallel()
	client := redistest.ServerClient(t, redistest.StartServer(t))
	l := listen(t, client)
	require.Eventually(t, l.ReceivesNotifications, 20*time.Second, 10*time.Millisecond)
	var waiting atomic.Int64
	entered := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- redis.AnnounceFeedWaiters(ctx, client, func() int { return int(waiting.Load()) }, entered)
	}()
	require.Never(t, l.HasFeedWaiters, 100*time.Millisecond, 10*time.Millisecond, "nobody waits")

	waiting.Store(1)
	entered <- struct{}{}
	require.Eventually(t, l.HasFeedWaiters, 20*time.Second, time.Millisecond)
	require.Never(t, func() bool { return !l.HasFeedWaiters() }, 2700*time.Millisecond, 10*time.Millisecond,
		"as long as requests wait, longer than a message holds")

	waiting.Store(0)
	require.Eventually(t, func() bool { return !l.HasFeedWaiters() }, 20*time.Second, 10*time.Millisecond)
	waiting.Store(1)
	entered <- struct{}{}
	require.Eventually(t, l.HasFeedWaiters, 20*time.Second, time.Millisecond, "requests wait again")
	stop()
	require.NoError(t, <-ended)
}
