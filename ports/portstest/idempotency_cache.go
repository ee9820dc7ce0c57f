package portstest

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// IdempotencyCache tests an implementation of ports.IdempotencyCache. cache is empty.
func IdempotencyCache(t *testing.T, cache ports.IdempotencyCache) {
	t.Helper()
	var last byte
	newKey := func() ports.IdempotencyKey {
		last++
		return ports.IdempotencyKey{PartnerID: id.ID{1}, Route: "POST /deposits", Key: [16]byte{last}, Fingerprint: [32]byte{9}, Epoch: ports.Epoch{1}, Holder: id.ID{1}}
	}
	response := func() *ports.StoredResponse {
		return &ports.StoredResponse{Fingerprint: [32]byte{9}, Status: 201, Body: []byte(`{"data":"é"}`), CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}
	}
	begin := func(t *testing.T, k ports.IdempotencyKey) {
		t.Helper()
		r, err := cache.Begin(t.Context(), k)
		require.NoError(t, err)
		require.Nil(t, r)
	}
	t.Run("marks the first, holds off the second", func(t *testing.T) {
		k := newKey()
		begin(t, k)
		_, err := cache.Begin(t.Context(), k)
		require.ErrorIs(t, err, ports.ErrKeyInUse)
	})
	t.Run("gives the response back as it was", func(t *testing.T) {
		k := newKey()
		begin(t, k)
		want := response()
		cache.Finish(t.Context(), k, want)
		for range 2 {
			got, err := cache.Begin(t.Context(), k)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
	t.Run("a refused request leaves the key free", func(t *testing.T) {
		k := newKey()
		begin(t, k)
		cache.Finish(t.Context(), k, nil)
		begin(t, k)
	})
	t.Run("another's mark stays", func(t *testing.T) {
		k := newKey()
		begin(t, k)
		other := k
		other.Holder = id.ID{2}
		cache.Finish(t.Context(), other, nil)
		_, err := cache.Begin(t.Context(), k)
		require.ErrorIs(t, err, ports.ErrKeyInUse)
	})
	t.Run("a refusal does not take a response away", func(t *testing.T) {
		k := newKey()
		cache.Finish(t.Context(), k, response())
		cache.Finish(t.Context(), k, nil)
		got, err := cache.Begin(t.Context(), k)
		require.NoError(t, err)
		require.NotNil(t, got)
	})
	t.Run("a response belongs to its epoch", func(t *testing.T) {
		k := newKey()
		begin(t, k)
		cache.Finish(t.Context(), k, response())
		restored, unknown := k, k
		restored.Epoch, unknown.Epoch = ports.Epoch{2}, ports.Epoch{}
		begin(t, restored)
		for range 2 {
			begin(t, unknown)
			cache.Finish(t.Context(), unknown, response())
		}
		got, err := cache.Begin(t.Context(), k)
		require.NoError(t, err)
		require.NotNil(t, got)
	})
	t.Run("partner and route are part of the key", func(t *testing.T) {
		k := newKey()
		begin(t, k)
		partner, route := k, k
		partner.PartnerID, route.Route = id.ID{2}, "POST /clients"
		begin(t, partner)
		begin(t, route)
	})
	t.Run("a response too large or too old is not kept, and the mark is off", func(t *testing.T) {
		large, old := response(), response()
		large.Body = bytes.Repeat([]byte{'x'}, 1<<20)
		old.CreatedAt = old.CreatedAt.Add(-ports.IdempotencyWindow - time.Second)
		for _, r := range []*ports.StoredResponse{large, old} {
			k := newKey()
			begin(t, k)
			cache.Finish(t.Context(), k, r)
			begin(t, k)
		}
	})
	t.Run("of many at once one goes on", func(t *testing.T) {
		k := newKey()
		var first atomic.Int64
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				if _, err := cache.Begin(t.Context(), k); err == nil {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, first.Load())
	})
}
