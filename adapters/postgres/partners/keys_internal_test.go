package partners

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

func hashOf(n int) (h partner.KeyHash) {
	binary.BigEndian.PutUint64(h[:], uint64(n))
	return h
}

func TestKeyCache_IsBoundedAndForgetsInTime(t *testing.T) {
	t.Parallel()
	c, now := newKeyCache(3*time.Second), time.Now()
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
	c, now := newKeyCache(time.Second), time.Now()
	for n := range maxKeys + 1 {
		c.put(hashOf(n), partner.Caller{}, now)
	}
	require.Len(t, c.cached, 1)
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
