package connections_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const key = secret.Text("svc_cs_0123456789abcdef0123456789abcdef")

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

type stillClock struct{}

func (stillClock) Now() time.Time { return now }

// plain hashes nothing: how passwords are kept is tested where it is done.
type plain struct{}

func (plain) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}
func (plain) Matches(_ context.Context, password, hash string) (bool, error) {
	return hash == "plain:"+password, nil
}

type bundle struct {
	*connections.Service
	deps  connections.Deps
	pool  *pgxpool.Pool
	store *postgres.Store
}

func setup(t *testing.T) bundle {
	t.Helper()
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), postgres.PoolOptions{})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	store := postgres.NewStore(pool, cipher, postgres.Options{})
	t.Cleanup(func() { store.Close(context.Background()) })
	deps := connections.Deps{
		UnitOfWork: store, Partners: store, Operators: store, Links: store, Passwords: plain{}, Clock: stillClock{},
		Entropy: system.Entropy{}, Environment: partner.Production, DashboardURL: "https://dash.example",
	}
	return bundle{Service: connections.New(deps), deps: deps, pool: pool, store: store}
}

func (b bundle) partner(t *testing.T, slug string, connectSecret secret.Text) partner.Partner {
	t.Helper()
	p := partner.Partner{ID: system.Entropy{}.NewID(), Slug: slug, Name: "Partner " + slug, CreatedAt: now}
	require.NoError(t, b.store.WithinTx(t.Context(), func(ctx context.Context, repos ports.Repositories) error {
		return repos.Partners.Insert(ctx, p, connectSecret)
	}))
	return p
}

func (b bundle) count(t *testing.T, table, where string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE "+where, args...).Scan(&n))
	return n
}

func request(slug, externalID string) connections.Request {
	ts := strconv.FormatInt(now.Unix(), 10)
	return connections.Request{Params: connect.Params{Partner: slug, ExternalID: externalID, TS: ts, Sig: connect.Sign(key, slug, externalID, ts)}}
}

func form(email string) connect.SignUp {
	return connect.SignUp{Email: email, Password: "correct horse", CompanyName: "Chalets"}
}

// linked gives an account that signed up through the partner.
func (b bundle) linked(t *testing.T, slug, externalID, email string) connections.Arrival {
	t.Helper()
	arrival, err := b.SignUp(t.Context(), request(slug, externalID), form(email), "")
	require.NoError(t, err)
	require.Equal(t, connect.Linked, arrival.Outcome)
	return arrival
}
