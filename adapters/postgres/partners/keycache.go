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
	maxKeys = 10_000
	// renewals is how many times API keys in use are read again within their time in the cache.
	renewals = 3
	// renewBatch is the most API keys that are read again by a single query.
	renewBatch   = 1000
	renewTimeout = 2 * time.Second
)

type keyCache struct {
	keep   time.Duration
	read   readKeys
	mu     sync.RWMutex
	cached map[partner.APIKeyHash]*cachedKey
	timer  *time.Timer // The timer that reads API keys in use again; nil if none was used since.
	closed bool
	// The timers for reading API keys again that run or are scheduled; close waits for their end.
	timers sync.WaitGroup
}

type cachedKey struct {
	partner.Caller
	readAt time.Time
	// Whether the API key was used since the keys in use were last read again.
	used atomic.Bool
}

// readKeys reads API keys with their partners by hashes, revoked ones too; unknown ones are missing.
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

// seen reports whether an API key is in the cache, even if its entry has expired.
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

// evict removes expired entries from the cache of API keys, or all if none has expired.
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

// renew reads the API keys used since the last time again and drops missing ones. After an error the entries
// expire.
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

// replace puts API keys that were read into the cache, except over newer or evicted entries.
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

// close stops the timer that reads keys again, and waits for a running query.
func (c *keyCache) close() {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil && c.timer.Stop() {
		c.timers.Done()
	}
	c.mu.Unlock()
	c.timers.Wait()
}
