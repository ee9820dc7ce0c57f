package redis_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/redistest"
	ports "partnerdeposits/ports/platform"
)

const waitForRedis = 20 * time.Second

// keptKeys waits until Redis holds n cached responses, and gives their names.
func keptKeys(t testing.TB, client goredis.UniversalClient, n int) []string {
	t.Helper()
	var names []string
	require.Eventually(t, func() bool {
		names = client.Keys(t.Context(), "svc:idempotency:*").Val()
		return len(names) == n
	}, waitForRedis, 5*time.Millisecond)
	return names
}

func numberedKey(n int) (k ports.IdempotencyKey) {
	k = ports.IdempotencyKey{Owner: id.ID{1}, Route: "POST /deposits", Epoch: ports.RestoreEpoch{1}}
	binary.BigEndian.PutUint64(k.Key[:], uint64(n))
	return k
}

func TestIdempotencyCache_KeepsNothingReadableAndNothingLong(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	cache := newCache(t, client, patient(t, client))
	k := numberedKey(1)
	cache.Store(k,
		ports.StoredResponse{Code: 201, Body: []byte(`{"secret":"svc_whsec_abc"}`), CreatedAt: time.Now().Add(-time.Hour)})
	name := keptKeys(t, client, 1)[0]
	kept := client.Get(t.Context(), name).Val()
	require.NotContains(t, kept, "svc_whsec")
	require.InDelta(t, time.Minute.Seconds(), client.PTTL(t.Context(), name).Val().Seconds(), 5)

	require.NoError(t, client.Set(t.Context(), name, kept[:len(kept)-1], 0).Err())
	require.Nil(t, cache.LookUp(t.Context(), k), "a value that cannot be read is left to the database")
}

// countCommands notes the commands of each round trip.
type countCommands struct {
	mu    sync.Mutex // a limiter tells Redis of its tallies by goroutines of its own
	noted []string
}

func (c *countCommands) trips() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.noted)
}

func (c *countCommands) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (c *countCommands) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		c.note(cmd)
		return next(ctx, cmd)
	}
}

func (c *countCommands) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		c.note(cmds...)
		return next(ctx, cmds)
	}
}

func (c *countCommands) note(cmds ...goredis.Cmder) {
	var names []string
	for _, cmd := range cmds {
		names = append(names, cmd.Name())
	}
	c.mu.Lock()
	c.noted = append(c.noted, strings.Join(names, " "))
	c.mu.Unlock()
}

func TestIdempotencyCache_AKeyWithoutACachedResponse_CostsNoRoundTrip(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	client := open(t, server.URL())
	cache := newCache(t, client, patient(t, client))
	cache.Store(numberedKey(1), ports.StoredResponse{Code: 201, CreatedAt: time.Now()})
	keptKeys(t, client, 1)
	counted := &countCommands{}
	client.AddHook(counted)
	require.NotNil(t, cache.LookUp(t.Context(), numberedKey(1)))
	require.Nil(t, cache.LookUp(t.Context(), numberedKey(2)))
	require.Equal(t, []string{"get"}, counted.trips(), "the second key was never used here")
}

// The database replays what another process has cached.
func TestIdempotencyCache_TheResponseOfAnotherProcess_IsLeftToTheDatabase(t *testing.T) {
	t.Parallel()
	client := redistest.New(t)
	one, other := newCache(t, client, patient(t, client)), newCache(t, client, patient(t, client))
	one.Store(numberedKey(1), ports.StoredResponse{Code: 201, CreatedAt: time.Now()})
	keptKeys(t, client, 1)
	require.Nil(t, other.LookUp(t.Context(), numberedKey(1)))
	require.NotNil(t, one.LookUp(t.Context(), numberedKey(1)))
}

// The responses of a process stay within its share of memory, whatever their number.
func TestIdempotencyCache_MoreThanTheShare_TheRestIsNotCached(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	client := open(t, server.URL())
	cache := newCache(t, client, patient(t, client))
	before := usedMemory(t, client)
	const many, body = 60_000, 900
	for n := range many {
		cache.Store(numberedKey(n),
			ports.StoredResponse{Code: 200, Body: bytes.Repeat([]byte{'x'}, body), CreatedAt: time.Now()})
	}
	expected := int(redis.CacheShare / 2 / (body + redis.CachedBeside)) // Redis may hold as many of the minute before
	require.Less(t, expected, many)
	keptKeys(t, client, expected)
	require.LessOrEqual(t, usedMemory(t, client)-before, redis.CacheShare/2,
		"the estimate of a response's memory is too low")
	require.NotNil(t, cache.LookUp(t.Context(), numberedKey(0)))
	require.Nil(t, cache.LookUp(t.Context(), numberedKey(many-1)))
}

func usedMemory(t testing.TB, client goredis.UniversalClient) int {
	t.Helper()
	for line := range strings.Lines(client.Info(t.Context(), "memory").Val()) {
		var n int
		if _, err := fmt.Sscanf(line, "used_memory:%d", &n); err == nil {
			return n
		}
	}
	require.Fail(t, "Redis does not tell its memory")
	return 0
}

func TestIdempotencyCache_RedisFull_NothingFails(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	client := open(t, server.URL())
	cache := newCache(t, client, patient(t, client))
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())
	cache.Store(numberedKey(1), ports.StoredResponse{Code: 201, CreatedAt: time.Now()})
	keptKeys(t, client, 1)
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	cache.Store(numberedKey(2), ports.StoredResponse{Code: 201, CreatedAt: time.Now()})
	require.Eventually(t, func() bool {
		return strings.Contains(client.Info(t.Context(), "errorstats").Val(), "errorstat_OOM:count=1")
	}, waitForRedis, time.Millisecond)
	require.NotNil(t, cache.LookUp(t.Context(), numberedKey(1)), "a full Redis still answers reads")
	require.Nil(t, cache.LookUp(t.Context(), numberedKey(2)))

	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	cache.Store(numberedKey(3), ports.StoredResponse{Code: 201, CreatedAt: time.Now()})
	keptKeys(t, client, 2)
}
