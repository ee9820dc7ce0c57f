package postgres

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
	for n := range 3 * mostKeys {
		c.put(hashOf(n), partner.Caller{}, now.Add(time.Duration(n)*time.Millisecond))
		require.LessOrEqual(t, len(c.known), mostKeys)
	}
	last := now.Add((3*mostKeys - 1) * time.Millisecond)
	_, known := c.get(hashOf(3*mostKeys-1), last.Add(3*time.Second-1))
	require.True(t, known)
	_, known = c.get(hashOf(3*mostKeys-1), last.Add(3*time.Second))
	require.False(t, known)
}

func TestKeyCache_FullOfFreshKeys_StartsAnew(t *testing.T) {
	t.Parallel()
	c, now := newKeyCache(time.Second), time.Now()
	for n := range mostKeys + 1 {
		c.put(hashOf(n), partner.Caller{}, now)
	}
	require.Len(t, c.known, 1)
}

func TestTouches_MoreThanAreGathered_AreLostNotHeld(t *testing.T) {
	t.Parallel()
	written := 0
	touches := newTouches(func(_ context.Context, used map[id.ID]time.Time) { written += len(used) })
	for n := range 2 * mostTouches {
		var keyID id.ID
		binary.BigEndian.PutUint64(keyID[:], uint64(n)+1)
		touches.add(keyID, time.Now())
	}
	touches.close(t.Context())
	require.LessOrEqual(t, written, 2*mostTouches)
	require.GreaterOrEqual(t, written, mostTouches)
	require.LessOrEqual(t, len(touches.noted), mostKeys)
}
