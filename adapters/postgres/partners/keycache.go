package partners

import (
	"sync"
	"time"

	"partnerdeposits/core/partner"
)

// maxKeys bounds the keys in the cache.
const maxKeys = 10_000

// keyCache keeps the partners of recently used keys, up to maxKeys.
type keyCache struct {
	keep   time.Duration
	mu     sync.RWMutex
	cached map[partner.KeyHash]cachedKey
}

type cachedKey struct {
	partner.Caller
	readAt time.Time
}

func newKeyCache(keep time.Duration) *keyCache {
	return &keyCache{keep: keep, cached: map[partner.KeyHash]cachedKey{}}
}

func (c *keyCache) get(hash partner.KeyHash, now time.Time) (partner.Caller, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.cached[hash]
	return k.Caller, ok && now.Sub(k.readAt) < c.keep
}

// seen also counts entries that are too old for get.
func (c *keyCache) seen(hash partner.KeyHash) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.cached[hash]
	return ok
}

func (c *keyCache) put(hash partner.KeyHash, caller partner.Caller, readAt time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cached) >= maxKeys {
		c.evict(readAt)
	}
	c.cached[hash] = cachedKey{caller, readAt}
}

// evict removes expired entries, or all entries when none has expired: a missing entry costs a query.
func (c *keyCache) evict(now time.Time) {
	for hash, k := range c.cached {
		if now.Sub(k.readAt) >= c.keep {
			delete(c.cached, hash)
		}
	}
	if len(c.cached) >= maxKeys {
		clear(c.cached)
	}
}
