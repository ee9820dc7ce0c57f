package redis_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// cachePatience is how long a response may take to be cached on a busy machine.
const cachePatience = 20 * time.Second

// checkCache checks the rules of ports.IdempotencyCache, as checkLimiter does. cache is empty.
func checkCache(t *testing.T, cache ports.IdempotencyCache) {
	t.Helper()
	var last byte
	newKey := func() ports.IdempotencyKey {
		last++
		return ports.IdempotencyKey{Owner: id.ID{1}, Route: "POST /deposits", Key: [16]byte{last}, Fingerprint: [32]byte{9},
			Epoch: ports.RestoreEpoch{1}}
	}
	response := func() ports.StoredResponse {
		return ports.StoredResponse{Fingerprint: [32]byte{9}, Code: 201, Body: []byte(`{"data":"é"}`),
			CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}
	}
	cached := func(t *testing.T, k ports.IdempotencyKey) *ports.StoredResponse {
		t.Helper()
		return cache.LookUp(t.Context(), k)
	}
	// keep returns when the response is cached.
	keep := func(t *testing.T, k ports.IdempotencyKey, r ports.StoredResponse) {
		t.Helper()
		cache.Store(k, r)
		require.Eventually(t, func() bool { return cached(t, k) != nil }, cachePatience, time.Millisecond)
	}
	t.Run("a key without a response", func(t *testing.T) {
		k := newKey()
		for range 2 {
			require.Nil(t, cached(t, k), "a request that asked before leaves no trace")
		}
	})
	t.Run("gives the response back as it was", func(t *testing.T) {
		k, want := newKey(), response()
		keep(t, k, want)
		for range 2 {
			require.Equal(t, &want, cached(t, k))
		}
	})
	t.Run("a response belongs to its epoch", func(t *testing.T) {
		k := newKey()
		restored, unknown := k, k
		restored.Epoch, unknown.Epoch = ports.RestoreEpoch{2}, ports.RestoreEpoch{}
		cache.Store(unknown, response())
		keep(t, k, response()) // after the response of the unknown epoch
		require.Nil(t, cached(t, restored))
		require.Nil(t, cached(t, unknown))
	})
	t.Run("partner and route are part of the key", func(t *testing.T) {
		k := newKey()
		keep(t, k, response())
		partner, route := k, k
		partner.Owner, route.Route = id.ID{2}, "POST /clients"
		require.Nil(t, cached(t, partner))
		require.Nil(t, cached(t, route))
	})
	t.Run("a response too large is not kept", func(t *testing.T) {
		large, k := response(), newKey()
		large.Body = bytes.Repeat([]byte{'x'}, 1<<20)
		cache.Store(k, large)
		keep(t, newKey(), response()) // after the other
		require.Nil(t, cached(t, k))
	})
	t.Run("many at once get the response of their own key", func(t *testing.T) {
		const many = 40
		keys := make([]ports.IdempotencyKey, many)
		for i := range keys {
			keys[i] = newKey()
			keys[i].Owner = id.ID{byte(i % 3)}
			if i%2 == 0 {
				r := response()
				r.Body = fmt.Append(nil, i)
				keep(t, keys[i], r)
			}
		}
		var wg sync.WaitGroup
		for range 5 {
			for i, k := range keys {
				wg.Go(func() {
					r := cache.LookUp(t.Context(), k)
					switch {
					case i%2 == 1 && r != nil:
						t.Errorf("%d got %s", i, r.Body)
					case i%2 == 0 && (r == nil || string(r.Body) != fmt.Sprint(i)):
						t.Errorf("%d got %v", i, r)
					}
				})
			}
		}
		wg.Wait()
	})
}
