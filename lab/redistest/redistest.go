// Package redistest gives each test an empty Redis database of its own.
//
//	func TestMain(m *testing.M) { redistest.RunTests(m) }
//
//	func TestLimiter_OverTheLimit_Refuses(t *testing.T) {
//		t.Parallel()
//		client := redistest.New(t)
//
// All tests of a binary share a server (package backing chooses its source), and each test has a numbered database, so
// FLUSHDB is safe. Commands beyond a database need a private server (StartServer): PUBLISH reaches every test, and
// FLUSHALL, CONFIG SET and SCRIPT FLUSH affect every test of the server.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
)

const (
	// Limit for the start of a test's Redis, its installation included.
	startLimit   = 3 * time.Minute
	leaseLimit   = 2 * time.Minute // Longest wait of a test for a free Redis database.
	cleanupLimit = 30 * time.Second
)

// RunTests runs a package's tests, stops the shared Redis and exits. TestMain calls it.
func RunTests(m *testing.M) { os.Exit(backing.RunTests(m)) }

// New returns a client on an empty Redis database, until the test ends. Its Options hold address and database
// number for other clients.
func New(t testing.TB) *redis.Client {
	t.Helper()
	return newClient(t, EmptyDatabaseURL(t))
}

// EmptyDatabaseURL returns the URL of an empty Redis database, until the test ends.
func EmptyDatabaseURL(t testing.TB) string {
	t.Helper()
	p, err := shared()
	require.NoError(t, err, "redistest: no Redis for the tests")
	ctx, cancel := context.WithTimeout(t.Context(), leaseLimit)
	defer cancel()
	db, err := p.take(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		if err := p.giveBack(ctx, db); err != nil {
			t.Errorf("redistest: give database %d back: %v", db, err)
		}
	})
	return p.urlOf(db)
}

// StartServer returns a private Redis that a test may kill, restart, pause and flush. A restarted server is empty.
func StartServer(t testing.TB) *backing.Server {
	t.Helper()
	return backing.StartForTest(t, func(ctx context.Context) (*backing.Server, error) {
		return backing.StartRedis(ctx, backing.Options{Private: true, Logf: t.Logf})
	})
}

// ServerClient returns a client of a private Redis until the test ends.
func ServerClient(t testing.TB, server *backing.Server) *redis.Client {
	t.Helper()
	return newClient(t, server.URL())
}

func newClient(t testing.TB, redisURL string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(redisURL)
	require.NoError(t, err)
	client := redis.NewClient(options)
	// The test may have closed the Redis client already.
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// shared starts the Redis that a binary's tests share, and returns its pool of databases.
var shared = sync.OnceValues(func() (*pool, error) {
	// The server must outlive the test that happens to start it, so it has a context of its own.
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	server, err := backing.StartRedis(ctx, backing.Options{})
	if err != nil {
		return nil, err
	}
	p, err := newPool(ctx, server.URL())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	backing.AtExit(func() {
		p.close()
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "redistest: close the server:", err)
		}
	})
	return p, nil
})

// StartCluster starts a Redis Cluster until the test ends, with this number of replicas for each master.
func StartCluster(t testing.TB, masters, replicas int) *backing.RedisCluster {
	t.Helper()
	return backing.StartForTest(t, func(ctx context.Context) (*backing.RedisCluster, error) {
		return backing.StartRedisCluster(ctx, backing.Options{Logf: t.Logf}, masters, replicas)
	})
}
