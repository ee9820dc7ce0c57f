package partners

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

func hashOf(n int) (h partner.APIKeyHash) {
	binary.BigEndian.PutUint64(h[:], uint64(n))
	return h
}

// nothing is a database without keys.
func nothing(context.Context, []partner.APIKeyHash) (map[partner.APIKeyHash]partner.Caller, error) {
	return nil, nil
}

func TestKeyCache_IsBoundedAndForgetsInTime(t *testing.T) {
	t.Parallel()
	c, now := newKeyCache(3*time.Second, nothing), time.Now()
	defer c.close()
	for n := range 3 * maxKeys {
		c.put(hashOf(n), partner.Caller{}, now.Add(time.Duration(n)*time.Millisecond))
		require.LessOrEqual(t, len(c.cached), maxKeys)
	}
	last := now.Add((3*maxKeys - 1) * time.Millisecond)
	_, cached := c.get(hashOf(3*maxKeys-1), last.Add(3*time.Second-1))
	require.True(t, cached)
	_, cached = c.get(hashOf(3*maxKeys-1), last.Add(3*time.Second))
	require.False(t, cached)
}

func TestKeyCache_FullOfFreshKeys_StartsAnew(t *testing.T) {
	t.Parallel()
	c, now := newKeyCache(time.Second, nothing), time.Now()
	for n := range maxKeys + 1 {
		c.put(hashOf(n), partner.Caller{}, now)
	}
	require.Len(t, c.cached, 1)
}

// table is a database of keys that counts its queries.
type table struct {
	keys    map[partner.APIKeyHash]partner.Caller
	err     error
	mu      sync.Mutex // a timer of a synctest bubble does not happen after what its test did before
	queries [][]partner.APIKeyHash
}

func (s *table) read(_ context.Context, hashes []partner.APIKeyHash) (map[partner.APIKeyHash]partner.Caller, error) {
	s.mu.Lock()
	s.queries = append(s.queries, hashes)
	s.mu.Unlock()
	found := map[partner.APIKeyHash]partner.Caller{}
	for _, hash := range hashes {
		if k, ok := s.keys[hash]; ok {
			found[hash] = k
		}
	}
	return found, s.err
}

func (s *table) asked() [][]partner.APIKeyHash {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

// pass advances the clock of a synctest bubble, and waits for the timers that fire.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// use asks the cache for n keys, and returns how many of them are cached.
func use(c *keyCache, n int) (cached int) {
	for i := range n {
		if _, ok := c.get(hashOf(i), time.Now()); ok {
			cached++
		}
	}
	return cached
}

func TestKeyCache_KeysInUse_AreReadAgainTogether_AndOthersExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &table{keys: map[partner.APIKeyHash]partner.Caller{}}
		c := newKeyCache(3*time.Second, db.read)
		defer c.close()
		for i := range 40 {
			db.keys[hashOf(i)] = partner.Caller{}
			c.put(hashOf(i), partner.Caller{}, time.Now())
		}
		for range 10 { // longer than keys are kept
			pass(1500 * time.Millisecond)
			require.Equal(t, 30, use(c, 30))
		}
		require.LessOrEqual(t, len(db.asked()), 10)
		require.Len(t, db.asked()[0], 30)
		_, cached := c.get(hashOf(35), time.Now())
		require.False(t, cached)

		queries := len(db.asked())
		pass(time.Hour)
		require.Len(t, db.asked(), queries+1, "after the last use")
	})
}

func TestKeyCache_AKeyThatChangesOrGoes_IsNoticedWithoutARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		revoked := partner.Caller{Key: partner.APIKey{RevokedAt: time.Now()}}
		db := &table{keys: map[partner.APIKeyHash]partner.Caller{hashOf(0): revoked}}
		c := newKeyCache(3*time.Second, db.read)
		defer c.close()
		c.put(hashOf(0), partner.Caller{}, time.Now())
		c.put(hashOf(1), partner.Caller{}, time.Now())
		require.Equal(t, 2, use(c, 2))
		pass(time.Second)
		got, cached := c.get(hashOf(0), time.Now())
		require.True(t, cached)
		require.True(t, got.Key.Revoked())
		require.False(t, c.seen(hashOf(1)))
	})
}

func TestKeyCache_AKeyReadByARequestMeanwhile_IsNotReplacedByAnOlderRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		revoked := partner.Caller{Key: partner.APIKey{RevokedAt: time.Now()}}
		var c *keyCache
		c = newKeyCache(3*time.Second, func(context.Context, []partner.APIKeyHash) (map[partner.APIKeyHash]partner.Caller,
			error) {
			<-time.After(time.Millisecond)
			c.put(hashOf(0), revoked, time.Now())
			return map[partner.APIKeyHash]partner.Caller{hashOf(0): {}}, nil
		})
		defer c.close()
		c.put(hashOf(0), partner.Caller{}, time.Now())
		require.Equal(t, 1, use(c, 1))
		pass(time.Second + time.Millisecond)
		got, cached := c.get(hashOf(0), time.Now())
		require.True(t, cached)
		require.True(t, got.Key.Revoked())
	})
}

func TestKeyCache_WhileTheDatabaseIsAway_KeysExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &table{err: errors.New("away")}
		c := newKeyCache(3*time.Second, db.read)
		c.put(hashOf(0), partner.Caller{}, time.Now())
		for range 5 {
			require.Equal(t, 1, use(c, 1))
			pass(599 * time.Millisecond)
		}
		pass(time.Second)
		require.Zero(t, use(c, 1))
		c.close()
		c.put(hashOf(0), partner.Caller{}, time.Now())
		queries := len(db.asked())
		require.Equal(t, 1, use(c, 1))
		pass(time.Hour)
		require.Len(t, db.asked(), queries, "a closed cache asks nothing")
	})
}

func TestKeyUses_AreWrittenTogetherAfterASecond_OnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written := make(chan map[id.ID]time.Time, 2)
		uses := newKeyUses(func(_ context.Context, used map[id.ID]time.Time) { written <- used })
		one, two, now := id.ID{1}, id.ID{2}, time.Now()
		uses.add(one, now)
		uses.add(one, now.Add(keyUsePrecision-1))
		uses.add(two, now)
		pass(keyUseDelay - 1)
		require.Empty(t, written)
		pass(1)
		require.Equal(t, map[id.ID]time.Time{one: now, two: now}, <-written)
		uses.add(one, now.Add(keyUsePrecision))
		pass(keyUseDelay)
		require.Equal(t, map[id.ID]time.Time{one: now.Add(keyUsePrecision)}, <-written)
	})
}

func TestKeyUses_BeyondTheBound_AreLost(t *testing.T) {
	t.Parallel()
	written := 0
	keyUses := newKeyUses(func(_ context.Context, used map[id.ID]time.Time) { written += len(used) })
	for n := range 2 * maxKeyUses {
		var keyID id.ID
		binary.BigEndian.PutUint64(keyID[:], uint64(n)+1)
		keyUses.add(keyID, time.Now())
	}
	keyUses.close(t.Context())
	require.LessOrEqual(t, written, 2*maxKeyUses)
	require.GreaterOrEqual(t, written, maxKeyUses)
	require.LessOrEqual(t, len(keyUses.recorded), maxKeys)
}
