package redis_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	return newBreaker(t, client).WithCommandTimeout(20 * time.Second)
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

func newCache(t testing.TB, client goredis.UniversalClient, breaker *redis.Breaker) *redis.IdempotencyCache {
	t.Helper()
	return redis.NewIdempotencyCache(client, breaker, secretstest.NewCipher(t), slog.New(slog.DiscardHandler))
}

// The test writes past buckets of three seconds, so that it need not wait for a minute.
func TestLimiter_WindowSlides(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	limiter := redis.NewLimiter(client, patient(t, client), func() { t.Error("failed open") })
	past := func(key string, counts map[time.Duration]int) ports.LimitRule {
		now, err := client.Time(t.Context()).Result()
		require.NoError(t, err)
		bucket := func(ago time.Duration) int64 { return now.Add(-ago).UnixMilli() / 3000 }
		newest := bucket(slices.Min(slices.Collect(maps.Keys(counts))))
		var kept [20]int
		sum := 0
		for ago, n := range counts {
			if age := newest - bucket(ago); age < int64(len(kept)) {
				kept[age] += n
				sum += n
			}
		}
		text := fmt.Sprintf("%d %d 0 %s", newest, sum, strings.Trim(fmt.Sprint(kept), "[]"))
		require.NoError(t, client.Set(t.Context(), "svc:rate:{"+key+"}:default", text, time.Hour).Err())
		return ports.LimitRule{Name: "default", Key: key, PerMinute: 10}
	}

	d := limiter.Allow(t.Context(), past("gone", map[time.Duration]int{70 * time.Second: 10, 1000 * time.Second: 10}))
	require.True(t, d.Allowed)
	require.Equal(t, 9, d.Remaining)
	require.Regexp(t, `^\d+ 1 0 1$`, client.Get(t.Context(), "svc:rate:{gone}:default").Val(), "what is past is dropped")

	d = limiter.Allow(t.Context(), past("full", map[time.Duration]int{40 * time.Second: 6, 20 * time.Second: 4}))
	require.False(t, d.Allowed)
	require.Greater(t, d.RetryAfter, 16*time.Second)
	require.Less(t, d.RetryAfter, 25*time.Second, "one of the six is gone soon after they begin to leave")

	d = limiter.Allow(t.Context(), past("room", map[time.Duration]int{40 * time.Second: 6, 20 * time.Second: 3}))
	require.True(t, d.Allowed)
	require.Zero(t, d.Remaining)

	ttl, err := client.PTTL(t.Context(), "svc:rate:{room}:default").Result()
	require.NoError(t, err)
	require.Greater(t, ttl, 55*time.Second)
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

// clockKey holds the seconds and microseconds that a client with the hook clock takes for the server's time.
const clockKey = "clock"

// clock has scripts read the time of clockKey in place of the server's.
type clock struct{}

func (clock) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (clock) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		replaceTime(cmd)
		return next(ctx, cmd)
	}
}

func (clock) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		for _, cmd := range cmds {
			replaceTime(cmd)
		}
		return next(ctx, cmds)
	}
}

// replaceTime changes the text of a script, and asks for a script that no server has in place of a known one.
func replaceTime(cmd goredis.Cmder) {
	switch args := cmd.Args(); cmd.Name() {
	case "evalsha":
		args[1] = strings.Repeat("0", 40)
	case "eval":
		text := `{string.match(redis.call('GET', '` + clockKey + `'), '(%d+) (%d+)')}`
		args[1] = strings.Replace(args[1].(string), `redis.call('TIME')`, text, 1)
	}
}

func TestLimiter_AtAnyTimes_CountsAsASlidingWindow(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	client.AddHook(clock{})
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
		require.NoError(t, client.Set(t.Context(), clockKey, fmt.Sprint(now.Unix(), " ", now.Nanosecond()/1000), 0).Err())
		if random.IntN(8) == 0 {
			limiter.Uncount(t.Context(), rule)
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
}

func TestWithoutRedis_NothingFailsAndNothingWaits(t *testing.T) {
	t.Parallel()
	client := nowhere(t)
	breaker := newBreaker(t, client)
	var open atomic.Int64
	limiter := redis.NewLimiter(client, breaker, func() { open.Add(1) })
	cache := newCache(t, client, breaker)
	bell := redis.NewDoorbell(client, breaker)
	t.Cleanup(bell.Close)
	k := ports.IdempotencyKey{Epoch: ports.RestoreEpoch{1}}

	const requests = 200
	start := time.Now()
	for range requests {
		d := limiter.Allow(t.Context(), ports.LimitRule{Name: "default", Key: "a", PerMinute: 5})
		require.True(t, d.Allowed)
		require.Equal(t, 5, d.Remaining)
		cache.Store(k, ports.StoredResponse{})
		require.Nil(t, cache.LookUp(t.Context(), k))
		bell.WakeRelays()
	}
	require.EqualValues(t, requests, open.Load())
	require.Less(t, time.Since(start)/requests, 5*time.Millisecond)
}

func TestGuard_RedisThatHangs_CostsTheFirstRequestsOnly_AndIsFoundAgain(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
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
