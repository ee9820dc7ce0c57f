// Package servicetest gives a test the whole service over a database of its own. The services are wired as the
// processes wire them (process/services); a test replaces the parts that it wants to control.
//
//	func TestMain(m *testing.M) { servicetest.RunTests(m) }
//
//	func TestCreate_ASlugTaken_IsRefused(t *testing.T) {
//		t.Parallel()
//		kit := servicetest.New(t, func(s *servicetest.Setup) { s.Config.Environment = partner.Staging })
//		kit.CreatePartner("acme")
//		_, err := kit.Partners.Create(t.Context(), partners.NewPartner{Slug: "acme", Name: "Acme"})
//
// Only tests and packages for tests import this package.
package servicetest

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/secretstest"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/config"
	"partnerdeposits/process/services"
)

// Deps and Services connect the use cases to repositories, as in the service's processes.
type (
	Deps     = services.Deps
	Services = services.Services
)

// MaxWait bounds a test's wait for Postgres or Redis on a busy machine.
const MaxWait = time.Minute

// Setup holds what a test may choose about its services. New sets the defaults first.
type Setup struct {
	// Settings of the service; by default SERVICE_ENV is development.
	Config config.Config
	// Pool options of the store; a statement or a wait for a lock may take MaxWait.
	Pool  postgres.PoolOptions
	Store postgres.Options
	Clock ports.Clock // Clock of the services; by default the machine's.
	// A Redis database from redistest.New; nil: the services find no Redis.
	Redis io.Closer
	Parts func(*Deps) // A function that replaces parts of the use cases; nil: none.
}

// Kit holds the service's stores and use cases over a test's own database.
type Kit struct {
	services.Stores
	services.Services
	Clock   ports.Clock
	t       testing.TB
	setup   Setup
	limiter ports.Limiter
	cache   ports.IdempotencyCache
}

// RunTests runs a package's tests, stops the servers and exits. TestMain calls it.
func RunTests(m *testing.M) { pgtest.RunTests(m) }

// New builds all use cases over a fresh database, until the test ends.
func New(t testing.TB, change ...func(*Setup)) *Kit {
	t.Helper()
	defaults, err := config.Load(nil, config.NothingRequired)
	require.NoError(t, err)
	setup := Setup{
		Config: defaults, Clock: system.Clock{},
		Pool: postgres.PoolOptions{StatementTimeout: MaxWait, LockTimeout: MaxWait},
	}
	for _, c := range change {
		c(&setup)
	}
	k := &Kit{t: t, setup: setup, Clock: setup.Clock}
	k.Cipher = secretstest.NewCipher(t)
	k.Pool, err = postgres.NewPool(t.Context(), pgtest.NewDatabaseURL(t), setup.Pool)
	require.NoError(t, err)
	pgtest.ClosePoolAfterTest(t, k.Pool)
	k.Postgres = postgres.NewStore(k.Pool, k.Cipher, setup.Store)
	k.Changes = groupcommit.New(k.Pool, k.Cipher, groupcommit.Options{Doorbell: setup.Store.Doorbell})
	t.Cleanup(func() { k.Postgres.Close(context.WithoutCancel(t.Context())) })
	k.limiter, k.cache = redistest.NewLimiterAndCache(t, setup.Redis, MaxWait, k.Cipher, k.log())
	k.Services = k.BuildServices()
	return k
}

// BuildServices builds all use cases once more over the same stores. Setup.Parts and then change replace parts of
// them.
func (k *Kit) BuildServices(change ...func(*Deps)) Services {
	k.t.Helper()
	hasher, err := passwords.New(passwords.WithCheapHashes)
	require.NoError(k.t, err)
	parts := services.DefaultDeps(k.setup.Config, k.Stores, k.Clock, k.log())
	parts.Passwords, parts.Doorbell, parts.DepositMetrics = hasher, silentDoorbell{}, noMetrics{}
	parts.Limiter, parts.Cache = k.limiter, k.cache
	parts.Epoch = func() ports.RestoreEpoch { return ports.RestoreEpoch{1} }
	for _, c := range append([]func(*Deps){k.setup.Parts}, change...) {
		if c != nil {
			c(&parts)
		}
	}
	return services.New(k.setup.Config, k.Stores, parts)
}

// log returns a logger that writes errors to the test's output.
func (k *Kit) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(k.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

// NewDispatchStore returns a dispatcher's store over the same database, with a connection pool of its own.
func (k *Kit) NewDispatchStore() *dispatchstore.Store {
	k.t.Helper()
	options := k.setup.Pool
	options.Settings = postgres.IndexPlanSettings
	pool, err := postgres.NewPool(k.t.Context(), k.Pool.Config().ConnString(), options)
	require.NoError(k.t, err)
	pgtest.ClosePoolAfterTest(k.t, pool)
	return dispatchstore.New(pool, k.Cipher)
}

type silentDoorbell struct{}

func (silentDoorbell) WakeRelays() {}
func (silentDoorbell) WakeScans()  {}

type noMetrics struct{}

func (noMetrics) CountTransition(_, _ deposit.Status, _ actor.Kind) {}

func (noMetrics) CountCreated(string) {}
