package partners

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/partners/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

const (
	maxKeys         = 10_000      // in the cache, at most
	keyUsePrecision = time.Minute // last_used_at moves once in this time, at most
	keyUseDelay     = time.Second // uses of this long are written together
	maxKeyUses      = 10_000      // uses that may wait; further uses are dropped, as the port allows
	keyUseTimeout   = 2 * time.Second
)

// KeyByHash implements partnerports.Keys. The cache keeps a found key for Options.KeysKeptFor, counted from
// before the query. The cache never keeps an unknown key, so that a new key works at once.
func (r Keys) KeyByHash(ctx context.Context, hash partner.KeyHash) (partner.APIKey, partner.Partner, error) {
	readAt := time.Now()
	if cached, ok := r.cache.get(hash, readAt); ok {
		return cached.Key, cached.Partner, nil
	}
	row, err := queries.KeyByHash(ctx, r.DB, hash[:])
	if err != nil {
		return partner.APIKey{}, partner.Partner{}, pg.OrNotFound(err, partner.ErrInvalidAPIKey)
	}
	found := toCaller(row)
	r.cache.put(hash, found, readAt)
	return found.Key, found.Partner, nil
}

func toCaller(row sqlc.KeyByHashRow) partner.Caller {
	return partner.Caller{
		Key: partner.APIKey{ID: row.ID, PartnerID: row.PartnerID, Name: row.Name, Prefix: row.Prefix, Last4: row.Last4,
			CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, RevokedAt: row.RevokedAt},
		Partner: partner.Partner{ID: row.PartnerID, Slug: row.Slug, Name: row.PartnerName, ContactEmail: row.ContactEmail,
			ReturnOrigins: row.ReturnOrigins, RateLimitPerMinute: row.RateLimitPerMinute,
			HasConnectSecret: row.HasConnectSecret, CreatedAt: row.PartnerCreatedAt},
	}
}

// Keys implements partnerports.Keys.
func (r Keys) Keys(ctx context.Context, partnerID id.ID, page ports.Page) (ports.List[partner.APIKey], error) {
	l := &lists.List{Table: "api_keys", Identity: []string{"id"}, Order: []string{"created_at", "id"}}
	l.Where("partner_id = ?", partnerID)
	l.After(page.Cursor)
	sql := `SELECT k.id, k.partner_id, k.name, k.prefix, k.last4, k.created_at, k.last_used_at, k.revoked_at, k.fits, k.n
		FROM ` + l.Rows(page) + ` AS k ORDER BY k.created_at DESC, k.id DESC`
	return lists.Read(ctx, r.DB, l, page, sql, func(row pgx.CollectableRow) (got lists.Listed[partner.APIKey], err error) {
		k := &got.Item
		err = row.Scan(&k.ID, &k.PartnerID, &k.Name, &k.Prefix, &k.Last4, &k.CreatedAt, &k.LastUsedAt, &k.RevokedAt, &got.Fits, &got.N)
		return got, err
	}, func(k partner.APIKey) ports.Cursor { return ports.Cursor{At: k.CreatedAt, ID: k.ID} })
}

// KeySeen implements partnerports.Keys.
func (r Keys) KeySeen(hash partner.KeyHash) bool { return r.cache.seen(hash) }

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

// RecordKeyUse implements partnerports.Keys: the use of a key is written at most once a minute, in the background.
func (r Keys) RecordKeyUse(_ context.Context, keyID id.ID, at time.Time) { r.uses.add(keyID, at) }

func (r Keys) writeKeyUses(ctx context.Context, used map[id.ID]time.Time) {
	ctx, cancel := context.WithTimeout(ctx, keyUseTimeout)
	defer cancel()
	ids, times := make([]id.ID, 0, len(used)), make([]time.Time, 0, len(used))
	for keyID, at := range used {
		ids, times = append(ids, keyID), append(times, at)
	}
	_ = queries.RecordKeyUses(ctx, r.DB, ids, times) // the record of a use may be lost (partnerports.Keys)
}

// keyUses collects last-used times of API keys and writes them together. A timer runs only while a time waits.
type keyUses struct {
	write    func(context.Context, map[id.ID]time.Time)
	mu       sync.Mutex
	recorded map[id.ID]time.Time // the last use of a key that was written or waits
	waiting  map[id.ID]time.Time
	timer    *time.Timer
	writing  sync.WaitGroup
	closed   bool
}

func newKeyUses(write func(context.Context, map[id.ID]time.Time)) *keyUses {
	return &keyUses{write: write, recorded: map[id.ID]time.Time{}, waiting: map[id.ID]time.Time{}}
}

func (t *keyUses) add(keyID id.ID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || at.Sub(t.recorded[keyID]) < keyUsePrecision || len(t.waiting) >= maxKeyUses {
		return
	}
	if len(t.recorded) >= maxKeys {
		clear(t.recorded)
	}
	t.recorded[keyID], t.waiting[keyID] = at, at
	if t.timer == nil {
		t.writing.Add(1)
		t.timer = time.AfterFunc(keyUseDelay, func() {
			defer t.writing.Done()
			t.flush(context.Background())
		})
	}
}

func (t *keyUses) flush(ctx context.Context) {
	t.mu.Lock()
	used := t.waiting
	t.waiting, t.timer = map[id.ID]time.Time{}, nil
	t.mu.Unlock()
	if len(used) > 0 {
		t.write(ctx, used)
	}
}

// close writes the uses that wait, and returns when a running write has ended.
func (t *keyUses) close(ctx context.Context) {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil && t.timer.Stop() {
		t.writing.Done()
	}
	t.mu.Unlock()
	t.flush(ctx)
	t.writing.Wait()
}
