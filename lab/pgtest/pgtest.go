// Package pgtest gives each test a database of its own, with every migration applied.
//
//	func TestMain(m *testing.M) { pgtest.RunTests(m) }
//
//	func TestDeposits_Create_IsFoundAgain(t *testing.T) {
//		t.Parallel()
//		pool := pgtest.New(t)
//
// The tests of a binary share a server (package backing), and so do the binaries of a run of lab/suite. The
// migrations run once, into a template database; cloning the template for a test takes about 25 ms.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/codec"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/lab/backing"
)

const (
	// Limit for the start of a test's Postgres, its installation included.
	startLimit     = 3 * time.Minute
	cleanupLimit   = 30 * time.Second
	poolCloseLimit = 5 * time.Second
	// maxConns is the size of a test's connection pool, on any machine; the default of pgx is the number of CPUs.
	maxConns = 16
)

// RunTests runs a package's tests, stops the shared Postgres and exits. TestMain calls it.
func RunTests(m *testing.M) { os.Exit(backing.RunTests(m)) }

// New returns a connection pool on a fresh, migrated database, which is dropped at the end of the test. A
// connection that was not released fails the test.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(NewDatabaseURL(t))
	require.NoError(t, err)
	config.MaxConns = maxConns
	config.AfterConnect = codec.RegisterTypes
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	ClosePoolAfterTest(t, pool)
	return pool
}

// ClosePoolAfterTest closes a connection pool after the test, which a connection that was not released fails.
func ClosePoolAfterTest(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	t.Cleanup(func() { closePool(t, pool, poolCloseLimit) })
}

// NewDatabaseURL returns the URL of a fresh, migrated database, which is dropped at the end of the test.
func NewDatabaseURL(t testing.TB) string {
	t.Helper()
	c := shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	name := c.freshName("")
	require.NoError(t, c.clone(ctx, name))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		if err := c.drop(ctx, name); err != nil {
			t.Errorf("pgtest: drop %s: %v", name, err)
		}
	})
	return c.urlOf(name)
}

// commonDatabases holds the databases that a binary's tests share, by name.
var commonDatabases = struct {
	sync.Mutex
	urls map[string]string
}{urls: map[string]string{}}

// SharedDatabaseURL returns the URL of a database that a binary's tests share under a name. The first call creates
// it and calls fill, which may be nil.
func SharedDatabaseURL(t testing.TB, name string, fill func(databaseURL string)) string {
	t.Helper()
	c, s := shared(t), &commonDatabases
	s.Lock()
	defer s.Unlock()
	if s.urls[name] == "" {
		ctx, cancel := context.WithTimeout(t.Context(), startLimit)
		defer cancel()
		database := c.freshName(name)
		require.NoError(t, c.clone(ctx, database))
		c.common = append(c.common, database)
		if fill != nil {
			fill(c.urlOf(database))
		}
		s.urls[name] = c.urlOf(database)
	}
	return s.urls[name]
}

// StartServer returns a private Postgres with a migrated database, which a test may kill, restart and pause.
func StartServer(t testing.TB) *backing.Server {
	t.Helper()
	server := backing.StartForTest(t, func(ctx context.Context) (*backing.Server, error) {
		return backing.StartPostgres(ctx, backing.Options{Private: true, InMemory: true, Logf: t.Logf})
	})
	_, err := migrations.Up(t.Context(), server.URL(), nil)
	require.NoError(t, err)
	return server
}

// StartPrimaryWithStandby returns a private Postgres with a standby, both migrated, until the test ends.
func StartPrimaryWithStandby(t testing.TB) *backing.PostgresPair {
	t.Helper()
	pair := backing.StartForTest(t, func(ctx context.Context) (*backing.PostgresPair, error) {
		return backing.StartPostgresPair(ctx, backing.Options{FastUnsafe: true, Logf: t.Logf})
	})
	_, err := migrations.Up(t.Context(), pair.Primary.URL(), nil)
	require.NoError(t, err)
	require.NoError(t, pair.AwaitReplication(t.Context()))
	return pair
}

// sharedServer starts the Postgres that all tests of a binary share.
var sharedServer = sync.OnceValues(func() (*cluster, error) {
	// The server must outlive the test that happens to start it, so it has a context of its own.
	c, end, err := start(context.Background(), 0, "")
	if err == nil {
		backing.AtExit(end)
	}
	return c, err
})

func shared(t testing.TB) *cluster {
	t.Helper()
	c, err := sharedServer()
	require.NoError(t, err, "pgtest: no database for the tests")
	return c
}

// start starts a Postgres with a migrated template database; port 0 and an empty template choose new ones.
func start(ctx context.Context, port int, template string) (c *cluster, end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	server, err := backing.StartPostgres(ctx, backing.Options{FastUnsafe: true, Port: port})
	if err != nil {
		return nil, nil, err
	}
	if c, err = newCluster(ctx, server.URL(), template); err != nil {
		_ = server.Close()
		return nil, nil, err
	}
	return c, func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		if err := errors.Join(c.close(ctx), server.Close()); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest: clean up:", err)
		}
	}, nil
}

// sharedPort and sharedTemplate are the same in every run, since Go's test cache compares the variables that a
// test reads.
const (
	sharedPort     = 15432
	sharedTemplate = prefix + "template"
)

// StartSharedServer starts a migrated Postgres for the test binaries of other processes, which find it through the
// returned variables.
func StartSharedServer(ctx context.Context) (environ []string, end func(), err error) {
	template := sharedTemplate
	if os.Getenv(serverEnv) != "" {
		// Other runs may use the same server, so the template database gets a new name.
		template = ""
	}
	c, end, err := start(ctx, sharedPort, template)
	if err != nil {
		return nil, nil, err
	}
	return []string{
		serverEnv + "=" + c.base.String(), templateEnv + "=" + c.template,
		dayEnv + "=" + time.Now().UTC().Format(time.DateOnly),
	}, end, nil
}

// closePool closes a connection pool, but fails the test after a time if connections are in use; pool.Close alone
// would wait without end.
func closePool(t testing.TB, pool *pgxpool.Pool, wait time.Duration) {
	t.Helper()
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(wait):
		t.Errorf("pgtest: %d connections were not given back to the pool", pool.Stat().AcquiredConns())
	}
}

// RequireAllColumnsWritten fails the test unless an INSERT or the table itself fills each column: Postgres
// silently fills an omitted column with its default.
func RequireAllColumnsWritten(t testing.TB, pool *pgxpool.Pool, table string, written []string, byTable ...string) {
	t.Helper()
	var names []string
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT array_agg(column_name::text) FROM information_schema.columns WHERE table_name = $1`, table).Scan(&names))
	require.ElementsMatch(t, names, append(written, byTable...), table)
}
