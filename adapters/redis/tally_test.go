package redis_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/lab/redistest"
	ports "partnerdeposits/ports/platform"
)

const limit = 400

// rulesOfPartner are tallied.
func rulesOfPartner() []ports.LimitRule {
	return []ports.LimitRule{
		{Name: "default", Key: "p", PerMinute: 2 * limit, Tallied: true},
		{Name: "writes", Key: "p", PerMinute: limit, Tallied: true},
	}
}

func newLimiter(t *testing.T, client goredis.UniversalClient) *redis.Limiter {
	t.Helper()
	return redis.NewLimiter(client, patient(t, client), func() {
		if t.Context().Err() == nil { // what is told after the end of the test finds a closed client
			t.Error("failed open")
		}
	})
}

func TestTally_OfAProcess_IsExact_WithFewerRoundTrips(t *testing.T) {
	t.Parallel()
	// The services' client repeats a command that has no reply after half a second, and Redis then counts twice.
	// The client of this test waits longer.
	client := redistest.ServerClient(t, redistest.StartServer(t))
	limiter := newLimiter(t, client)
	counted := &countCommands{}
	client.AddHook(counted)
	for left := limit - 1; left >= 0; left-- {
		d := limiter.Allow(t.Context(), rulesOfPartner()...)
		require.Equal(t, []any{true, "writes", limit, left}, []any{d.Allowed, d.Name, d.Max, d.Remaining})
		require.Equal(t, time.Minute, d.Reset)
		require.Zero(t, d.RetryAfter)
	}
	d := limiter.Allow(t.Context(), rulesOfPartner()...)
	require.Equal(t, []any{false, 0}, []any{d.Allowed, d.Remaining})
	require.Greater(t, d.RetryAfter, 50*time.Second)
	require.Less(t, len(counted.trips()), limit/2+60, "each of the second half, and few of the first")
}

func TestTally_ProcessesTogether_AllowNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	limiters := []*redis.Limiter{newLimiter(t, client), newLimiter(t, client), newLimiter(t, client)}
	allowed := 0
	for n := range limit + 100 {
		if limiters[n%len(limiters)].Allow(t.Context(), rulesOfPartner()...).Allowed {
			allowed++
		}
	}
	require.Equal(t, limit, allowed)
}

func TestTally_IsToldSoon(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	one, other := newLimiter(t, client), newLimiter(t, client)
	for range 5 {
		one.Allow(t.Context(), rulesOfPartner()...)
	}
	seen := 0
	require.Eventually(t, func() bool { // each look is a request of its own, by a process that knows nothing
		seen++
		return newLimiter(t, client).Allow(t.Context(), rulesOfPartner()...).Remaining == limit-5-seen
	}, waitForRedis, 10*time.Millisecond)
	require.Equal(t, limit-6-seen, other.Allow(t.Context(), rulesOfPartner()...).Remaining)
	require.Equal(t, time.Minute, one.Allow(t.Context(), rulesOfPartner()...).Reset)
}

// A Redis that has restarted has forgotten the script.
func TestLimiter_ScriptForgotten_CountsAllTheSame(t *testing.T) {
	t.Parallel()
	client := open(t, redistest.StartServer(t).URL())
	limiter := newLimiter(t, client)
	for left := limit - 1; left >= limit-100; left-- {
		require.NoError(t, client.ScriptFlush(t.Context()).Err())
		require.Equal(t, left, limiter.Allow(t.Context(), rulesOfPartner()...).Remaining)
	}
	rule := ports.LimitRule{Name: "default", Key: "a", PerMinute: 2}
	for left := 1; left >= 0; left-- {
		require.NoError(t, client.ScriptFlush(t.Context()).Err())
		require.Equal(t, left, limiter.Allow(t.Context(), rule).Remaining)
	}
}

func TestTally_OfSeveralPartners_IsToldInOneRoundTrip(t *testing.T) {
	t.Parallel()
	client := open(t, redistest.StartServer(t).URL())
	limiter := newLimiter(t, client)
	rules := func(partner string) ports.LimitRule {
		return ports.LimitRule{Name: "default", Key: partner, PerMinute: 1 << 30, Tallied: true}
	}
	partners := []string{"p", "q", "r"}
	counted := &countCommands{}
	client.AddHook(counted)
	require.Eventually(t, func() bool { // Redis counts the first request of each
		for _, partner := range partners {
			limiter.Allow(t.Context(), rules(partner))
		}
		return slices.Contains(counted.trips(), "evalsha evalsha evalsha")
	}, waitForRedis, 10*time.Millisecond)
}

// Reads and writes share a limit.
func TestTally_OfOtherRequests_CountsWhatTheyShare(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	limiter := newLimiter(t, client)
	writes, all := rulesOfPartner(), rulesOfPartner()[:1]
	for n := range 60 {
		require.Equal(t, limit-n-1, limiter.Allow(t.Context(), writes...).Remaining)
		require.Equal(t, 2*limit-2*n-2, limiter.Allow(t.Context(), all...).Remaining)
	}
}

// A security limit must hold at once in all processes.
func TestTally_CountsNoOtherRules(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	one, other := newLimiter(t, client), newLimiter(t, client)
	rules := rulesOfPartner()
	rules[0].Tallied = false
	for n := range 20 {
		require.Equal(t, limit-2*n-1, one.Allow(t.Context(), rules...).Remaining)
		require.Equal(t, limit-2*n-2, other.Allow(t.Context(), rules...).Remaining)
	}
}

func TestTally_RedisTakesNoWrites_CountsEachRequestAsUncounted(t *testing.T) {
	t.Parallel()
	client := open(t, redistest.StartServer(t).URL())
	var uncounted atomic.Int64
	limiter := redis.NewLimiter(client, patient(t, client), func() { uncounted.Add(1) })
	limiter.Allow(t.Context(), rulesOfPartner()...)
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for range 3 {
		limiter.Allow(t.Context(), rulesOfPartner()...)
	}
	require.Eventually(t, func() bool { return uncounted.Load() == 3 }, waitForRedis, 5*time.Millisecond)
}

func TestTally_RedisGoesAway_CountsEachRequestAsUncounted(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	client := open(t, server.URL())
	var uncounted atomic.Int64
	limiter := redis.NewLimiter(client, patient(t, client), func() { uncounted.Add(1) })
	require.True(t, limiter.Allow(t.Context(), rulesOfPartner()...).Allowed)
	require.NoError(t, server.Kill())
	const requests = 4
	for range requests {
		require.True(t, limiter.Allow(t.Context(), rulesOfPartner()...).Allowed)
	}
	require.Eventually(t, func() bool { return uncounted.Load() == requests }, waitForRedis, 5*time.Millisecond)
	require.True(t, limiter.Allow(t.Context(), rulesOfPartner()...).Allowed)
	require.EqualValues(t, requests+1, uncounted.Load(), "the tally is not trusted without Redis")
}
