package postgres_test

import (
	"context"
	"testing"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/postgres/storetest"
	"partnerdeposits/ports"
	"partnerdeposits/ports/portstest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	portstest.Store(t, func(t *testing.T) portstest.Backend {
		store, _ := storetest.New(t, postgres.Options{})
		return store
	})
}

// grouped does everything in groups: nobody can tell.
type grouped struct{ *postgres.Store }

func (g grouped) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	return g.WithinGroup(ctx, fn)
}

func TestStore_InGroups(t *testing.T) {
	t.Parallel()
	portstest.Store(t, func(t *testing.T) portstest.Backend {
		store, _ := storetest.New(t, postgres.Options{})
		return grouped{store}
	})
}
