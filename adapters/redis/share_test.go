package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// CacheShare and CachedBeside tell tests the bound of a process.
const (
	CacheShare   = cacheShare
	CachedBeside = cachedBeside
)

// ShareUsedUp reports whether no further response would be cached.
func (c *IdempotencyCache) ShareUsedUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.share.taken == c.share.most
}

// Waiting counts the requests that wait for a round trip.
func (l *Limiter) Waiting() int { return l.queue.CountWaiting("") }

func TestShare_UsedUp_IsFreeAgainWhenItsResponsesHaveExpired(t *testing.T) {
	t.Parallel()
	const slot = cachedFor / shareSlots
	s := share{most: 10}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.True(t, s.take(6, now.Add(slot/2)))
	require.True(t, s.take(4, now.Add(10*slot)))
	require.False(t, s.take(1, now.Add(10*slot)))
	require.False(t, s.take(1, now.Add(cachedFor+slot/2-1)), "the first response may still live")
	require.True(t, s.take(6, now.Add(cachedFor+slot)))
	require.False(t, s.take(1, now.Add(cachedFor+slot)))
	require.True(t, s.take(10, now.Add(3*cachedFor)))
	s.close(now.Add(5 * cachedFor))
	require.False(t, s.take(1, now.Add(6*cachedFor)))
	require.True(t, s.take(10, now.Add(6*cachedFor+slot)))
	require.False(t, s.take(1, now), "a clock that was set back frees nothing")
}
