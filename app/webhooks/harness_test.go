package webhooks_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture is the use cases over a database of their own, with one partner and one subscription.
type fixture struct {
	t       *testing.T
	pool    *pgxpool.Pool
	store   *postgres.Store
	clock   *clock
	service *webhooks.Service
	by      partner.Caller
	sub     id.ID

	rings atomic.Int64
	mu    sync.Mutex
	waits []time.Duration
}

// clock stands still until it is told to go on.
type clock struct{ at atomic.Pointer[time.Time] }

func (c *clock) Now() time.Time { return *c.at.Load() }

func (c *clock) advance(d time.Duration) {
	next := c.Now().Add(d)
	c.at.Store(&next)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	f := &fixture{t: t, pool: pgtest.New(t), clock: &clock{}}
	now := system.Clock{}.Now()
	f.clock.at.Store(&now)
	f.store = postgres.NewStore(f.pool, cipher, postgres.Options{})
	t.Cleanup(func() { f.store.Close(context.WithoutCancel(t.Context())) })
	f.service = f.over(f.store)
	f.by = f.partner("acme")
	f.sub = f.subscribe(f.by)
	return f
}

// over gives the use cases over that unit of work.
func (f *fixture) over(work ports.UnitOfWork) *webhooks.Service {
	return webhooks.New(f.deps(work))
}

// waiting gives the use cases with a look at the world whenever they wait.
func (f *fixture) waiting(look func()) *webhooks.Service {
	d := f.deps(f.store)
	d.After = func(span time.Duration) <-chan time.Time {
		look()
		return f.after(span)
	}
	return webhooks.New(d)
}

func (f *fixture) deps(work ports.UnitOfWork) webhooks.Deps {
	return webhooks.Deps{
		UnitOfWork: work, Subscriptions: f.store, Deliveries: f.store, Replays: f.store, Targets: anywhere{}, Doorbell: f,
		Clock: f.clock, Entropy: system.Entropy{}, After: f.after,
	}
}

// Ring implements ports.Doorbell.
func (f *fixture) Ring() { f.rings.Add(1) }

// after notes each wait and ends it at once.
func (f *fixture) after(d time.Duration) <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits = append(f.waits, d)
	over := make(chan time.Time, 1)
	over <- time.Time{}
	return over
}

// waited gives the waits since it was asked last.
func (f *fixture) waited() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.waits
	f.waits = nil
	return out
}

// anywhere accepts every target.
type anywhere struct{}

func (anywhere) Check(context.Context, string) error { return nil }

func newID() id.ID { return system.Entropy{}.NewID() }

func (f *fixture) write(do func(context.Context, ports.Repositories) error) {
	f.t.Helper()
	require.NoError(f.t, f.store.WithinTx(f.t.Context(), do))
}

func (f *fixture) partner(slug string) partner.Caller {
	f.t.Helper()
	p := partner.Partner{ID: newID(), Slug: slug, Name: slug, CreatedAt: f.clock.Now()}
	f.write(func(ctx context.Context, r ports.Repositories) error { return r.Partners.Insert(ctx, p, "") })
	return partner.Caller{Partner: p, Key: partner.APIKey{ID: newID()}}
}

func (f *fixture) subscribe(by partner.Caller) id.ID {
	f.t.Helper()
	s := webhook.Subscription{ID: newID(), PartnerID: by.Partner.ID, URL: "https://pms.example/hook", Events: webhook.EventNames, Enabled: true, CreatedAt: f.clock.Now()}
	f.write(func(ctx context.Context, r ports.Repositories) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
	})
	return s.ID
}

func (f *fixture) enable(enabled bool) {
	f.t.Helper()
	_, err := f.service.Update(f.t.Context(), f.by, f.sub, webhooks.Changes{Enabled: &enabled})
	require.NoError(f.t, err)
}

// sent makes n deliveries to sub in that state, one a millisecond, the last of them so long ago. The oldest comes first.
func (f *fixture) sent(sub id.ID, n int, state webhook.State, ago time.Duration) []id.ID {
	f.t.Helper()
	rows, err := f.pool.Query(f.t.Context(), `
		INSERT INTO deliveries (subscription_id, id, event_id, event, deposit_id, state, attempts, due_at, body, event_at, created_at, finished_at, taken_at)
		SELECT $1, overlay(gen_random_uuid()::text placing left(uuid_floor(at)::text, 14) || '7' from 1 for 15)::uuid, gen_random_uuid(), 'deposit.cancelled', gen_random_uuid(), $3::int2,
			CASE WHEN $3::int2 = 0 THEN 0 ELSE 11 END, CASE WHEN $3::int2 < 2 THEN at + interval '30 seconds' END, convert_to('{"n":' || n || '}', 'UTF8'), at, at,
			CASE WHEN $3::int2 >= 2 THEN at END, CASE WHEN $3::int2 = 2 THEN at END
		FROM generate_series(1, $2::int) n CROSS JOIN LATERAL (SELECT $4::timestamptz - ($2 - n) * interval '1 millisecond' AS at) t
		RETURNING id`, sub, n, state, f.clock.Now().Add(-ago))
	require.NoError(f.t, err)
	defer rows.Close()
	var ids []id.ID
	for rows.Next() {
		var one id.ID
		require.NoError(f.t, rows.Scan(&one))
		ids = append(ids, one)
	}
	require.NoError(f.t, rows.Err())
	return ids
}

// repeated counts the redeliveries of each original of sub.
func (f *fixture) repeated(sub id.ID) map[id.ID]int {
	f.t.Helper()
	rows, err := f.pool.Query(f.t.Context(), `
		SELECT r.redelivery_of FROM deliveries r JOIN deliveries o ON o.subscription_id = r.subscription_id AND o.id = r.redelivery_of AND o.body = r.body
			AND o.event_id = r.event_id AND o.event = r.event AND o.deposit_id IS NOT DISTINCT FROM r.deposit_id
		WHERE r.subscription_id = $1`, sub)
	require.NoError(f.t, err)
	defer rows.Close()
	counts := map[id.ID]int{}
	for rows.Next() {
		var of id.ID
		require.NoError(f.t, rows.Scan(&of))
		counts[of]++
	}
	require.NoError(f.t, rows.Err())
	return counts
}

// once says that each of these was repeated once, and nothing else.
func once(originals ...[]id.ID) map[id.ID]int {
	want := map[id.ID]int{}
	for _, some := range originals {
		for _, o := range some {
			want[o] = 1
		}
	}
	return want
}

// rows counts what a refused request must not leave behind.
func (f *fixture) rows() map[string]int {
	f.t.Helper()
	out := map[string]int{}
	for _, table := range []string{"deliveries", "webhook_replays", "audit_log"} {
		var n int
		require.NoError(f.t, f.pool.QueryRow(f.t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		out[table] = n
	}
	return out
}
