package redis_test

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/secretstest"
	ports "partnerdeposits/ports/platform"
)

func newBreaker(t testing.TB, client goredis.UniversalClient) *redis.Breaker {
	t.Helper()
	breaker := redis.NewBreaker(client)
	t.Cleanup(breaker.Close)
	return breaker
}

// patient is a breaker for tests on a slow machine.
func patient(t testing.TB, client goredis.UniversalClient) *redis.Breaker {
	t.Helper()
	return newBreaker(t, client).WithPatience(20 * time.Second)
}

// nowhere is a client of an address without a listener.
func nowhere(t testing.TB) goredis.UniversalClient {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	return open(t, "redis://"+ln.Addr().String())
}

func open(t testing.TB, url string) goredis.UniversalClient {
	t.Helper()
	client, err := redis.NewClient(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestLimiter_Conforms(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	checkLimiter(t, redis.NewLimiter(client, patient(t, client), func() { t.Error("failed open") }), false)
}

func TestLimiter_OfTalliedRules_Conforms(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	checkLimiter(t, newLimiter(t, client), true)
}

func TestIdempotencyCache_Conforms(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	checkCache(t, newCache(t, client, patient(t, client)))
}

// newCache makes a cache over a limiter of its own.
func newCache(t testing.TB, client goredis.UniversalClient, breaker *redis.Breaker) *redis.IdempotencyCache {
	t.Helper()
	limiter := redis.NewLimiter(client, breaker, func() {})
	return redis.NewIdempotencyCache(limiter, secretstest.New(t), slog.New(slog.DiscardHandler))
}

// The sandbox falls back on miniredis without a Redis server.
func TestMiniredis_Conforms(t *testing.T) {
	t.Parallel()
	client := open(t, "redis://"+miniredis.RunT(t).Addr())
	breaker := patient(t, client)
	checkLimiter(t, redis.NewLimiter(client, breaker, func() { t.Error("failed open") }), false)
	checkCache(t, newCache(t, client, breaker))
	rings := listen(t, client).Events()
	bell := redis.NewDoorbell(client, breaker)
	t.Cleanup(bell.Close)
	require.Eventually(t, func() bool { bell.Ring(); return len(rings) > 0 }, 10*time.Second, 10*time.Millisecond)
}

// slidingWindow is what limiter.lua promises, at its plainest.
type slidingWindow struct {
	counts map[int64]int // by bucket
	width  time.Duration
	limit  int
}

// used gives the requests within the window; of the oldest bucket only the part within it.
func (w *slidingWindow) used(now time.Time) (n float64) {
	newest := now.UnixMilli() / w.width.Milliseconds()
	for bucket, count := range w.counts {
		switch age := newest - bucket; {
		case age < 20:
			n += float64(count)
		case age == 20:
			n += float64(count) * (1 - float64(now.UnixMilli()%w.width.Milliseconds())/float64(w.width.Milliseconds()))
		}
	}
	return n
}

func (w *slidingWindow) left(now time.Time) int {
	return max(0, int(math.Floor(float64(w.limit)-w.used(now)+1e-6)))
}

func TestLimiter_AtAnyTimes_CountsAsASlidingWindow(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := open(t, "redis://"+server.Addr())
	limiter := redis.NewLimiter(client, patient(t, client), func() { t.Error("failed open") })
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same at each run
	rule := ports.LimitRule{Name: "default", Key: "a", PerMinute: 40}
	w := slidingWindow{counts: map[int64]int{}, width: 3 * time.Second, limit: 40}
	refused := 0
	now := time.Now()
	for range 3000 {
		now = now.Add(time.Duration(random.IntN(2500)) * time.Millisecond)
		if random.IntN(100) == 0 {
			now = now.Add(time.Duration(random.IntN(90)) * time.Second)
		}
		server.SetTime(now)
		if random.IntN(8) == 0 {
			limiter.Refund(t.Context(), rule)
			newest := int64(-1)
			for bucket, count := range w.counts {
				if count > 0 && bucket >= now.UnixMilli()/3000-20 {
					newest = max(newest, bucket)
				}
			}
			if newest >= 0 {
				w.counts[newest]--
			}
			continue
		}
		before := w.left(now)
		d := limiter.Allow(t.Context(), rule)
		require.Equal(t, before > 0, d.Allowed)
		if !d.Allowed {
			refused++
			require.Positive(t, d.RetryAfter)
			require.Positive(t, w.left(now.Add(d.RetryAfter+time.Millisecond)), "after the wait there is room")
			require.Zero(t, w.left(now.Add(d.RetryAfter-2*time.Millisecond)), "and no sooner")
			continue
		}
		w.counts[now.UnixMilli()/3000]++
		require.Equal(t, w.left(now), d.Remaining)
		require.Equal(t, w.limit, w.left(now.Add(d.Reset+w.width)), "after the reset the limit is free")
	}
	require.Greater(t, refused, 50)
	const key = "svc:rate:{a}:default"
	server.SetTime(now.Add(1000 * time.Second))
	limiter.Allow(t.Context(), rule)
	require.Greater(t, client.PTTL(t.Context(), key).Val(), 55*time.Second)
	require.Regexp(t, `^\d+ 1 0 1$`, client.Get(t.Context(), key).Val(), "what is past is dropped")
}

func TestWithoutRedis_NothingFailsAndNothingWaits(t *testing.T) {
	t.Parallel()
	client := nowhere(t)
	breaker := newBreaker(t, client)
	var open atomic.Int64
	limiter := redis.NewLimiter(client, breaker, func() { open.Add(1) })
	cache := redis.NewIdempotencyCache(limiter, secretstest.New(t), slog.New(slog.DiscardHandler))
	bell := redis.NewDoorbell(client, breaker)
	t.Cleanup(bell.Close)
	k := ports.IdempotencyKey{Epoch: ports.Epoch{1}}

	const requests = 200
	start := time.Now()
	for range requests {
		d, r := cache.Admit(t.Context(), k, ports.LimitRule{Name: "default", Key: "a", PerMinute: 5})
		require.True(t, d.Allowed)
		require.Equal(t, 5, d.Remaining)
		require.Nil(t, r)
		cache.Keep(k, ports.StoredResponse{})
		bell.Ring()
	}
	require.EqualValues(t, requests, open.Load())
	require.Less(t, time.Since(start)/requests, 5*time.Millisecond)
}

func TestGuard_RedisThatHangs_CostsTheFirstRequestsOnly_AndIsFoundAgain(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	client := open(t, server.URL())
	var opened atomic.Int64
	limiter := redis.NewLimiter(client, newBreaker(t, client), func() { opened.Add(1) })
	allow := func() ports.LimitDecision {
		return limiter.Allow(t.Context(), ports.LimitRule{Name: "default", Key: "a", PerMinute: 1_000_000})
	}
	allow()
	require.Zero(t, opened.Load())

	require.NoError(t, server.Pause())
	start := time.Now()
	for range 500 {
		require.True(t, allow().Allowed)
	}
	require.Less(t, time.Since(start), 2*time.Second)
	require.EqualValues(t, 500, opened.Load())

	require.NoError(t, server.Resume())
	require.Eventually(t, func() bool {
		before := opened.Load()
		return allow().Allowed && opened.Load() == before
	}, 20*time.Second, 20*time.Millisecond)
}

// listen starts a listener, which stops at the end of the test.
func listen(t *testing.T, client goredis.UniversalClient) *redis.Listener {
	l := redis.NewListener(client)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return l
}
