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
	// maxKeys bounds the keys in the cache.
	maxKeys = 10_000
	// renewals is how often the keys in use are read again within the time that a key is kept.
	renewals = 3
	// renewBatch bounds the keys of a query.
	renewBatch   = 1000
	renewTimeout = 2 * time.Second
)

// keyCache keeps the partners of recently used keys, up to maxKeys. Keys in use are read again together, before they
// are too old: a query for all of them costs less than a query for each, and no request waits for it. A timer runs only
// while keys are in use.
type keyCache struct {
	keep   time.Duration
	read   readKeys
	mu     sync.RWMutex
	cached map[partner.KeyHash]*cachedKey
	timer  *time.Timer // nil: no key was used since keys were read again
	closed bool
	timers sync.WaitGroup // that run or will run
}

type cachedKey struct {
	partner.Caller
	readAt time.Time
	used   atomic.Bool // since keys were read again
}

// readKeys reads API keys by their hashes, revoked ones too, with their partners. Unknown keys are left out.
type readKeys func(context.Context, []partner.KeyHash) (map[partner.KeyHash]partner.Caller, error)

func newKeyCache(keep time.Duration, read readKeys) *keyCache {
	return &keyCache{keep: keep, read: read, cached: map[partner.KeyHash]*cachedKey{}}
}

func (c *keyCache) get(hash partner.KeyHash, now time.Time) (partner.Caller, bool) {
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
	c.cached[hash] = &cachedKey{Caller: caller, readAt: readAt}
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

// renew reads the keys again that were used since the last time. A key that is gone is removed. After an error, the
// keys grow too old, and requests read them.
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

func (c *keyCache) takeUsed() (used []partner.KeyHash) {
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

// replace takes over what was read of hashes, except where the cache has something newer or nothing any more.
func (c *keyCache) replace(hashes []partner.KeyHash, found map[partner.KeyHash]partner.Caller, readAt time.Time) {
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

// close ends the timer, and returns when a query that runs has ended.
func (c *keyCache) close() {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil && c.timer.Stop() {
		c.timers.Done()
	}
	c.mu.Unlock()
	c.timers.Wait()
}
