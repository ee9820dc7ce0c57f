package postgres_test

import (
	"testing"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	portstest.Store(t, func(t *testing.T) portstest.Backend {
		store, _ := storetest.New(t, postgres.Options{})
		return store
	})
}
