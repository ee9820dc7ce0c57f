// Package redistest gives each test a Redis database of its own, empty.
//
//	func TestMain(m *testing.M) { redistest.Main(m) }
//
//	func TestLimiter_OverTheLimit_Refuses(t *testing.T) {
//		t.Parallel()
//		client := redistest.New(t)
//
// One server serves a test binary (package backing says where it comes from); a test has one of its numbered databases
// to itself, and FLUSHDB is safe. What is not per database must stay away from the shared server: channels of PUBLISH
// reach every test, FLUSHALL, CONFIG SET and scripts' FLUSH hit all of them. For those, Server is private.
package redistest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/backing"
)

const (
	startLimit   = 3 * time.Minute // a server that must be installed first
	leaseLimit   = 2 * time.Minute // the wait for another test to give its database back
	cleanupLimit = 30 * time.Second
	// databases of a server of our own: more than a test binary runs in parallel.
	databases = 512
)

// Main runs the tests and takes the shared server down. TestMain calls it; it does not return.
func Main(m *testing.M) { os.Exit(backing.RunTests(m)) }

// New returns a client on an empty database, closed and emptied when the test ends. Its Options name address and
// database for whoever needs a client of another kind.
func New(t testing.TB) *redis.Client {
	t.Helper()
	return newClient(t, URL(t))
}

// URL returns the URL of an empty database, emptied again when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	p := shared(t)
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

// Option changes what Server starts.
type Option func(*backing.Options)

// AOF keeps the data over Kill and Restart (appendonly yes, appendfsync everysec). Without it a restart is empty.
func AOF(o *backing.Options) { o.RedisAOF = true }

// Server returns a private server to kill, restart, pause and flush. It ends with the test.
func Server(t testing.TB, options ...Option) *backing.Server {
	t.Helper()
	o := backing.Options{Private: true, Logf: t.Logf}
	for _, apply := range options {
		apply(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	server, err := backing.StartRedis(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("redistest: close the private server: %v", err)
		}
	})
	return server
}

// ServerClient returns a client of a private server, closed when the test ends.
func ServerClient(t testing.TB, server *backing.Server) *redis.Client {
	t.Helper()
	return newClient(t, server.URL())
}

func newClient(t testing.TB, redisURL string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(redisURL)
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() }) // the test may have closed it already
	return client
}

// only is the server that all tests of this binary share.
var only struct {
	once sync.Once
	pool *pool
	err  error
}

func shared(t testing.TB) *pool {
	t.Helper()
	only.once.Do(func() {
		// Not the test's context: the server outlives the test that happens to come first.
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		only.pool, only.err = start(ctx)
	})
	require.NoError(t, only.err, "redistest: no Redis for the tests")
	return only.pool
}

func start(ctx context.Context) (*pool, error) {
	server, err := backing.StartRedis(ctx, backing.Options{RedisDatabases: databases})
	if err != nil {
		return nil, err
	}
	p, err := newPool(ctx, server.URL())
	if err != nil {
		_ = server.Close()
		return nil, err
	}
	backing.AtExit(func() {
		p.close()
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "redistest: close the server:", err)
		}
	})
	return p, nil
}
