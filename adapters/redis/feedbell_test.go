package redis_test

import (
	"context"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/redistest"
)

// rungFeeds counts the rings that a listener has heard, by partner.
type rungFeeds struct {
	mu    sync.Mutex
	times map[id.ID]int
	calls int
	most  int // partners of a message
}

// hearFeeds listens until the test ends.
func hearFeeds(t *testing.T, client goredis.UniversalClient) *rungFeeds {
	t.Helper()
	heard := &rungFeeds{times: map[id.ID]int{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- redis.ListenForNewFeedEvents(ctx, client, heard.ring) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return heard
}

func (h *rungFeeds) ring(partners []id.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	h.most = max(h.most, len(partners))
	for _, p := range partners {
		h.times[p]++
	}
}

func (h *rungFeeds) of(p id.ID) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.times[p]
}

func (h *rungFeeds) partners() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.times)
}

// feedBell is a bell whose rings heard hears: the first rings may come before the subscription.
func feedBell(t *testing.T, client goredis.UniversalClient, heard *rungFeeds) *redis.Doorbell {
	t.Helper()
	bell := redis.NewDoorbell(client, patient(t, client))
	t.Cleanup(bell.Close)
	awaitRing(t, bell, heard)
	return bell
}

// awaitRing rings until a ring is heard.
func awaitRing(t *testing.T, bell *redis.Doorbell, heard *rungFeeds) {
	t.Helper()
	first := portstest.NewID()
	require.Eventually(t, func() bool {
		bell.NotifyNewFeedEvents([]id.ID{first})
		return heard.of(first) > 0
	}, soon, 10*time.Millisecond)
}

func TestFeedBell_RingsForEachPartner(t *testing.T) {
	t.Parallel()
	client := redistest.ServerClient(t, redistest.StartServer(t))
	heard := hearFeeds(t, client)
	bell := feedBell(t, client, heard)
	a, b := portstest.NewID(), portstest.NewID()
	bell.NotifyNewFeedEvents([]id.ID{a, b})
	require.Eventually(t, func() bool { return heard.of(a) == 1 && heard.of(b) == 1 }, soon, time.Millisecond)
	bell.NotifyNewFeedEvents([]id.ID{b})
	require.Eventually(t, func() bool { return heard.of(b) == 2 }, soon, time.Millisecond)
	require.Equal(t, 1, heard.of(a), "no ring of its own")
	bell.NotifyNewFeedEvents(nil)

	// A backlog of thousands of partners fits into messages of a bounded size.
	const many, most = 3000, 1024
	before := heard.partners()
	all := make([]id.ID, many)
	for i := range all {
		all[i] = portstest.NewID()
	}
	bell.NotifyNewFeedEvents(all)
	require.Eventually(t, func() bool { return heard.partners() == before+many }, soon, time.Millisecond)
	require.LessOrEqual(t, heard.most, most)
	for _, p := range all {
		require.Equal(t, 1, heard.of(p))
	}

	// Other programs may publish on the channel. A message that is no list of ids rings for its whole ids.
	p := portstest.NewID()
	for _, message := range []string{"", "x", string(p[:]) + "rest"} {
		require.NoError(t, client.Publish(t.Context(), "svc:feeds", message).Err())
	}
	require.Eventually(t, func() bool { return heard.of(p) == 1 }, soon, time.Millisecond)
}

// Ringing neither waits nor fails while Redis is away, and rings are heard again when it is back.
func TestFeedBell_ConnectionLost_IsSubscribedAgain(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	client := open(t, server.URL())
	heard := hearFeeds(t, client)
	bell := feedBell(t, client, heard)
	require.NoError(t, server.Kill())
	lost := portstest.NewID()
	began := time.Now()
	for range 1000 {
		bell.NotifyNewFeedEvents([]id.ID{lost})
	}
	require.Less(t, time.Since(began), time.Second, "a ring does not wait for Redis")
	require.NoError(t, server.Restart(t.Context()))
	awaitRing(t, bell, heard)
}
