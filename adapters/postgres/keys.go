package postgres

import (
	"context"
	"sync"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

const (
	mostKeys      = 10_000      // remembered at once
	touchEvery    = time.Minute // how coarse last_used_at is
	touchDelay    = time.Second // touches are gathered this long
	mostTouches   = 10_000      // gathered at once; the rest is lost, as the port allows
	touchDeadline = 2 * time.Second
)

// KeyByHash implements ports.KeyReader. A found key is believed for as long as Options.KeysKeptFor, counted from before
// the query; an unknown one is asked for again every time, so that a new key works at once.
func (s *Store) KeyByHash(ctx context.Context, hash partner.KeyHash) (partner.APIKey, partner.Partner, error) {
	asked := time.Now()
	if known, ok := s.keys.get(hash, asked); ok {
		return known.Key, known.Partner, nil
	}
	row, err := s.q.KeyByHash(ctx, s.db, hash[:])
	if err != nil {
		return partner.APIKey{}, partner.Partner{}, pg.OrNotFound(err, partner.ErrInvalidAPIKey)
	}
	found := partner.Caller{
		Key: partner.APIKey{ID: row.ID, PartnerID: row.PartnerID, Name: row.Name, Prefix: row.Prefix, Last4: row.Last4,
			CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, RevokedAt: row.RevokedAt},
		Partner: partner.Partner{ID: row.PartnerID, Slug: row.Slug, Name: row.PartnerName, ContactEmail: row.ContactEmail,
			ReturnOrigins: row.ReturnOrigins, RateLimitPerMinute: int(row.RateLimitPerMinute), HasConnectSecret: row.HasConnectSecret,
			CreatedAt: row.PartnerCreatedAt},
	}
	s.keys.put(hash, found, asked)
	return found.Key, found.Partner, nil
}

// keyCache remembers who a key belongs to, for a short time and a bounded number of keys.
type keyCache struct {
	keep  time.Duration
	mu    sync.RWMutex
	known map[partner.KeyHash]knownKey
}

type knownKey struct {
	partner.Caller
	asked time.Time
}

func newKeyCache(keep time.Duration) *keyCache {
	return &keyCache{keep: keep, known: map[partner.KeyHash]knownKey{}}
}

func (c *keyCache) get(hash partner.KeyHash, now time.Time) (partner.Caller, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.known[hash]
	return k.Caller, ok && now.Sub(k.asked) < c.keep
}

func (c *keyCache) put(hash partner.KeyHash, caller partner.Caller, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= mostKeys {
		c.makeRoom(asked)
	}
	c.known[hash] = knownKey{caller, asked}
}

// makeRoom drops what is stale, and everything when nothing is: forgetting costs one query per key.
func (c *keyCache) makeRoom(now time.Time) {
	for hash, k := range c.known {
		if now.Sub(k.asked) >= c.keep {
			delete(c.known, hash)
		}
	}
	if len(c.known) >= mostKeys {
		clear(c.known)
	}
}

// TouchKey implements ports.KeyReader: at most one write a minute and key, gathered and written in the background.
func (s *Store) TouchKey(_ context.Context, keyID id.ID, at time.Time) { s.touches.add(keyID, at) }

func (s *Store) writeTouches(ctx context.Context, used map[id.ID]time.Time) {
	ctx, cancel := context.WithTimeout(ctx, touchDeadline)
	defer cancel()
	ids, times := make([]id.ID, 0, len(used)), make([]time.Time, 0, len(used))
	for keyID, at := range used {
		ids, times = append(ids, keyID), append(times, at)
	}
	_ = s.q.TouchKeys(ctx, s.db, ids, times) // may be lost (ports.KeyReader)
}

// touches gathers uses of keys. A timer runs only while something waits to be written.
type touches struct {
	write   func(context.Context, map[id.ID]time.Time)
	mu      sync.Mutex
	noted   map[id.ID]time.Time // last use that was written or waits
	waiting map[id.ID]time.Time
	timer   *time.Timer
	writing sync.WaitGroup
	closed  bool
}

func newTouches(write func(context.Context, map[id.ID]time.Time)) *touches {
	return &touches{write: write, noted: map[id.ID]time.Time{}, waiting: map[id.ID]time.Time{}}
}

func (t *touches) add(keyID id.ID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || at.Sub(t.noted[keyID]) < touchEvery || len(t.waiting) >= mostTouches {
		return
	}
	if len(t.noted) >= mostKeys {
		clear(t.noted)
	}
	t.noted[keyID], t.waiting[keyID] = at, at
	if t.timer == nil {
		t.writing.Add(1)
		t.timer = time.AfterFunc(touchDelay, func() {
			defer t.writing.Done()
			t.flush(context.Background())
		})
	}
}

func (t *touches) flush(ctx context.Context) {
	t.mu.Lock()
	used := t.waiting
	t.waiting, t.timer = map[id.ID]time.Time{}, nil
	t.mu.Unlock()
	if len(used) > 0 {
		t.write(ctx, used)
	}
}

// close writes what waits and lets a write that runs come to its end.
func (t *touches) close(ctx context.Context) {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil && t.timer.Stop() {
		t.writing.Done()
	}
	t.mu.Unlock()
	t.flush(ctx)
	t.writing.Wait()
}
