package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/ports"
	"partnerdeposits/ports/portstest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	portstest.Store(t, func(t *testing.T) portstest.Backend {
		store, _ := newStore(t, postgres.Options{})
		return store
	})
}

func newStore(t testing.TB, o postgres.Options) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool := pgtest.New(t)
	return storeOver(t, pool, o), pool
}

func storeOver(t testing.TB, pool *pgxpool.Pool, o postgres.Options) *postgres.Store {
	t.Helper()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	store := postgres.NewStore(pool, cipher, o)
	t.Cleanup(func() { store.Close(context.Background()) })
	return store
}

// grouped does everything in groups: nobody can tell.
type grouped struct{ *postgres.Store }

func (g grouped) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	return g.WithinGroup(ctx, fn)
}

func TestStore_InGroups(t *testing.T) {
	t.Parallel()
	portstest.Store(t, func(t *testing.T) portstest.Backend {
		store, _ := newStore(t, postgres.Options{})
		return grouped{store}
	})
}
