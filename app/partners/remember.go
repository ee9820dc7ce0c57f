package partners

import (
	"context"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

const (
	// rememberFor stays below the five seconds after which a revoked key must have stopped working everywhere
	// (api.md §1), with room for a request that is under way.
	rememberFor = 4 * time.Second
	// rememberAtMost bounds the memory. Only keys that exist are remembered, so it is seldom reached.
	rememberAtMost = 10_000
	// touchEvery is how coarse "last used" is.
	touchEvery = time.Minute
)

// rememberedKeys spares the database most look-ups of API keys.
type rememberedKeys struct {
	reader ports.KeyReader
	clock  ports.Clock

	mu    sync.RWMutex
	known map[partner.KeyHash]remembered
}

type remembered struct {
	caller partner.Caller
	until  time.Time
}

// RememberKeys puts a short memory before reader. Unknown keys are asked for each time: a key works from the moment it
// is created.
func RememberKeys(reader ports.KeyReader, clock ports.Clock) ports.KeyReader {
	return &rememberedKeys{reader: reader, clock: clock, known: map[partner.KeyHash]remembered{}}
}

// KeyByHash answers from memory or asks the reader.
func (r *rememberedKeys) KeyByHash(ctx context.Context, hash partner.KeyHash) (partner.APIKey, partner.Partner, error) {
	now := r.clock.Now()
	r.mu.RLock()
	hit, ok := r.known[hash]
	r.mu.RUnlock()
	if ok && now.Before(hit.until) {
		return hit.caller.Key, hit.caller.Partner, nil
	}
	key, owner, err := r.reader.KeyByHash(ctx, hash)
	if err != nil {
		return key, owner, err
	}
	if !key.Revoked() && now.Sub(key.LastUsedAt) >= touchEvery {
		r.TouchKey(ctx, key.ID, now)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= rememberAtMost {
		clear(r.known)
	}
	r.known[hash] = remembered{caller: partner.Caller{Key: key, Partner: owner}, until: now.Add(rememberFor)}
	return key, owner, nil
}

// TouchKey passes it on.
func (r *rememberedKeys) TouchKey(ctx context.Context, keyID id.ID, at time.Time) {
	r.reader.TouchKey(ctx, keyID, at)
}
