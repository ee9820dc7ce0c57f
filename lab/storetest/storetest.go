// Package storetest makes stores, pools and rows for the tests of the packages below adapters/postgres.
package storetest

import (
	"context"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	ports "partnerdeposits/ports/platform"
)

// New returns a store over a fresh database, and its connection pool.
func New(t testing.TB, o postgres.Options) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool := pgtest.New(t)
	return NewStoreOverPool(t, pool, o), pool
}

// NewStoreOverPool returns a store over a connection pool until the test ends.
func NewStoreOverPool(t testing.TB, pool *pgxpool.Pool, o postgres.Options) *postgres.Store {
	t.Helper()
	store := postgres.NewStore(pool, secretstest.NewCipher(t), o)
	t.Cleanup(func() { store.Close(context.Background()) })
	return store
}

// NewPool returns a connection pool with the service's settings until the test ends.
func NewPool(t testing.TB, databaseURL string, o postgres.PoolOptions) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.NewPool(t.Context(), databaseURL, o)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// ProxiedURL returns a database URL through a TCP proxy, and the proxy, by which a test disturbs connections.
func ProxiedURL(t testing.TB, databaseURL string) (string, *pgproxy.TCPProxy) {
	t.Helper()
	target, err := url.Parse(databaseURL)
	require.NoError(t, err)
	link := pgproxy.NewTCPProxy(t, target.Host)
	target.Host = link.Address
	return target.String(), link
}

// Doorbell is a fake that only counts the wake-up notifications to dispatchers.
type Doorbell struct{ Rung atomic.Int32 }

func (b *Doorbell) WakeRelays() { b.Rung.Add(1) }

func (b *Doorbell) WakeScans() { b.Rung.Add(1) }

func NewDepositCancelledEvent(partnerID, depositID id.ID) ports.Event {
	return ports.Event{ID: portstest.NewID(), PartnerID: partnerID, Name: "deposit.cancelled", DepositID: depositID,
		Data: []byte(`{"b":1, "a":2}`), CreatedAt: time.Now()}
}

// CreateDepositOrigin stores a partner with a linked account, as the origin of a deposit.
func CreateDepositOrigin(t testing.TB, store *postgres.Store) deposit.Origin {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	p := partner.Partner{ID: portstest.NewID(), Name: "Harbour", CreatedAt: now}
	p.Slug = "p-" + p.ID.Encode()
	o := connect.Operator{ID: portstest.NewID(), PasswordHash: "h", CreatedAt: now}
	o.Email = o.ID.Encode() + "@rentals.example"
	a := connect.Account{ID: portstest.NewID(), OperatorID: o.ID, CompanyName: "C", CreatedAt: now}
	l := connect.Link{ID: portstest.NewID(), PartnerID: p.ID, AccountID: a.ID, ExternalID: "op-1", LinkedAt: now}
	RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		require.NoError(t, r.Partners.Insert(ctx, p, ""))
		require.NoError(t, r.Operators.Insert(ctx, o, a))
		return r.Links.Insert(ctx, l)
	})
	return deposit.Origin{AccountID: a.ID, PartnerID: p.ID, PartnerName: p.Name, ExternalID: l.ExternalID,
		ByPartnerAPI: true}
}

// RunInTransaction runs fn in a database transaction that must commit.
func RunInTransaction(t testing.TB, store *postgres.Store, fn func(context.Context, *postgres.Store) error) {
	t.Helper()
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error { return fn(ctx, store) }))
}
