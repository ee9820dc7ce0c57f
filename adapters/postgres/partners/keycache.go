package partners

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/partner"
)

const (
	// maxKeys is the most API keys that the cache holds.
	maxKeys = 10_000
	// renewals is how many times the API keys in use are read again within the time for which the cache keeps a key.
	renewals = 3
	// renewBatch is the most API keys that are read again by a single query.
	renewBatch   = 1000
	renewTimeout = 2 * time.Second
)

// keyCache keeps recently used API keys with their partners, up to maxKeys. Keys in use are read again together,
// before their entries expire: one query for all of them costs less than a query for each, and no request waits for
// it. A timer runs only while keys are in use.
type keyCache struct {
	keep   time.Duration
	read   readKeys
	mu     sync.RWMutex
	cached map[partner.APIKeyHash]*cachedKey
	timer  *time.Timer // The timer that reads API keys in use again; nil if no key was used since the last reading.
	closed bool
	// Counts the timers for reading API keys again that run or are scheduled, so that close can wait for their end.
	timers sync.WaitGroup
}

type cachedKey struct {
	partner.Caller
	readAt time.Time
	// Whether the API key was used since the keys in use were last read again (true) or not (false).
	used atomic.Bool
}

// readKeys reads API keys with their partners by the hashes of the keys, including revoked keys. Unknown keys are
// missing in the result.
type readKeys func(context.Context, []partner.APIKeyHash) (map[partner.APIKeyHash]partner.Caller, error)

func newKeyCache(keep time.Duration, read readKeys) *keyCache {
	return &keyCache{keep: keep, read: read, cached: map[partner.APIKeyHash]*cachedKey{}}
}

func (c *keyCache) get(hash partner.APIKeyHash, now time.Time) (partner.Caller, bool) {
	c.mu.RLock()
	k, ok := c.cached[hash]
	c.mu.RUnlock()
	if !ok || now.Sub(k.readAt) >= c.keep {
		return partner.Caller{}, false
	}
	if !k.used.Load() && !k.used.Swap(true) {
		c.renewSoon()
	}
	return k.Caller, true
}

// seen reports whether an API key is in the cache, even if its entry has expired; otherwise false.
func (c *keyCache) seen(hash partner.APIKeyHash) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.cached[hash]
	return ok
}

func (c *keyCache) put(hash partner.APIKeyHash, caller partner.Caller, readAt time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cached) >= maxKeys {
		c.evict(readAt)
	}
	c.cached[hash] = &cachedKey{Caller: caller, readAt: readAt}
}

// evict removes expired entries from the cache of API keys, or all entries if none has expired. A missing entry
// costs a query.
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

func (c *keyCache) renewSoon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil || c.closed {
		return
	}
	c.timers.Add(1)
	c.timer = time.AfterFunc(c.keep/renewals, func() {
		defer c.timers.Done()
		c.renew()
	})
}

// renew reads those API keys again that were used since the last time. A key that no longer exists is removed from
// the cache. After an error the entries expire, and requests read the keys again.
func (c *keyCache) renew() {
	ctx, cancel := context.WithTimeout(context.Background(), renewTimeout)
	defer cancel()
	for part := range slices.Chunk(c.takeUsed(), renewBatch) {
		readAt := time.Now()
		found, err := c.read(ctx, part)
		if err != nil {
			return
		}
		c.replace(part, found, readAt)
	}
}

func (c *keyCache) takeUsed() (used []partner.APIKeyHash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = nil
	for hash, k := range c.cached {
		if k.used.Swap(false) {
			used = append(used, hash)
		}
	}
	return used
}

// replace puts API keys that were read into the cache, except where the cache has a newer entry or no entry any
// more.
func (c *keyCache) replace(hashes []partner.APIKeyHash, found map[partner.APIKeyHash]partner.Caller, readAt time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, hash := range hashes {
		old, kept := c.cached[hash]
		if !kept || old.readAt.After(readAt) {
			continue
		}
		delete(c.cached, hash)
		if caller, ok := found[hash]; ok {
			k := &cachedKey{Caller: caller, readAt: readAt}
			k.used.Store(old.used.Load())
			c.cached[hash] = k
		}
	}
}

// close stops the timer that reads keys again, and waits until a running query has ended.
func (c *keyCache) close() {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil && c.timer.Stop() {
		c.timers.Done()
	}
	c.mu.Unlock()
	c.timers.Wait()
}
