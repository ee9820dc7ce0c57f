package redis_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ports "partnerdeposits/ports/platform"
)

// checkLimiter checks the rules of ports.Limiter: on a server and in a cluster. limiter is empty. So small
// limits are exact even if they are tallied.
func checkLimiter(t *testing.T, limiter ports.Limiter, tallied bool) {
	t.Helper()
	rule := func(name, key string, perMinute int) ports.LimitRule {
		return ports.LimitRule{Name: name, Key: key, PerMinute: perMinute, Tallied: tallied}
	}
	t.Run("up to the limit, then no further", func(t *testing.T) {
		r := rule("default", "a", 3)
		for left := 2; left >= 0; left-- {
			d := limiter.Allow(t.Context(), r)
			require.True(t, d.Allowed)
			require.Equal(t, []any{"default", 3, left}, []any{d.Name, d.Max, d.Remaining})
			require.Greater(t, d.Reset, 50*time.Second)
			require.LessOrEqual(t, d.Reset, time.Minute)
			require.Zero(t, d.RetryAfter)
		}
		d := limiter.Allow(t.Context(), r)
		require.False(t, d.Allowed)
		require.Zero(t, d.Remaining)
		require.Greater(t, d.RetryAfter, 50*time.Second)
		require.LessOrEqual(t, d.RetryAfter, time.Minute+3*time.Second)
	})
	t.Run("keys and names count apart", func(t *testing.T) {
		require.True(t, limiter.Allow(t.Context(), rule("default", "b", 1)).Allowed)
		require.True(t, limiter.Allow(t.Context(), rule("writes", "b", 1)).Allowed)
		require.True(t, limiter.Allow(t.Context(), rule("default", "c", 1)).Allowed)
		require.False(t, limiter.Allow(t.Context(), rule("default", "b", 1)).Allowed)
	})
	t.Run("of several rules the tightest is told", func(t *testing.T) {
		d := limiter.Allow(t.Context(), rule("default", "d", 10), rule("writes", "d", 2))
		require.Equal(t, []any{true, "writes", 2, 1}, []any{d.Allowed, d.Name, d.Max, d.Remaining})
		d = limiter.Allow(t.Context(), rule("default", "d", 2))
		require.Equal(t, []any{true, "default", 0}, []any{d.Allowed, d.Name, d.Remaining})
	})
	t.Run("a refused request counts nowhere", func(t *testing.T) {
		for _, other := range []string{"e", "f"} { // with the same key, and with another key
			require.True(t, limiter.Allow(t.Context(), rule("writes", other, 1)).Allowed)
			for range 5 {
				d := limiter.Allow(t.Context(), rule("default", "e", 3), rule("writes", other, 1))
				require.Equal(t, []any{false, "writes"}, []any{d.Allowed, d.Name})
			}
		}
		require.Equal(t, 2, limiter.Allow(t.Context(), rule("default", "e", 3)).Remaining)
	})
	t.Run("in an hour", func(t *testing.T) {
		r := ports.LimitRule{Name: "hourly", Key: "h", PerHour: 2}
		for range 2 {
			d := limiter.Allow(t.Context(), r)
			require.True(t, d.Allowed)
			require.Greater(t, d.Reset, 55*time.Minute)
		}
		d := limiter.Allow(t.Context(), r)
		require.Equal(t, []any{false, 2}, []any{d.Allowed, d.Max})
		require.Greater(t, d.RetryAfter, 55*time.Minute)
		require.LessOrEqual(t, d.RetryAfter, time.Hour+3*time.Minute)
	})
	t.Run("a refunded request is as if never counted", func(t *testing.T) {
		minute, hour := rule("default", "i", 1), ports.LimitRule{Name: "hourly", Key: "j", PerHour: 1}
		for range 3 {
			require.True(t, limiter.Allow(t.Context(), minute, hour).Allowed)
			require.False(t, limiter.Allow(t.Context(), minute, hour).Allowed)
			limiter.Uncount(t.Context(), minute, hour)
		}
	})
	t.Run("no rule is no limit", func(t *testing.T) {
		require.True(t, limiter.Allow(t.Context()).Allowed)
	})
	t.Run("many at once are counted to the last", func(t *testing.T) {
		var left, want []int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				d := limiter.Allow(t.Context(), rule("default", "g", 20), rule("writes", "g", 30))
				mu.Lock()
				defer mu.Unlock()
				if d.Allowed {
					left = append(left, d.Remaining)
				} else if d.RetryAfter < 50*time.Second {
					t.Errorf("to come back after %v", d.RetryAfter)
				}
			})
		}
		wg.Wait()
		for n := range 20 {
			want = append(want, n)
		}
		require.ElementsMatch(t, want, left, "each was told what is left after it")
	})
}
