//go:build !unit

package webhooks_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// fixture is a kit with a partner and its subscription.
type fixture struct {
	*servicetest.Kit
	t     *testing.T
	clock *servicetest.Clock
	by    partner.Caller
	sub   id.ID

	rings atomic.Int64
	mu    sync.Mutex
	waits []time.Duration
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := &fixture{t: t, clock: servicetest.NewClock(time.Now())}
	f.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock = f.clock
		s.Parts = func(p *servicetest.Deps) { p.Targets, p.Doorbell, p.After = anywhere{}, f, f.after }
	})
	f.by = f.caller("acme")
	f.sub = f.subscribe(f.by)
	return f
}

// over gives the use cases over another unit of work.
func (f *fixture) over(work ports.UnitOfWork) *webhooks.Service {
	return f.BuildServices(func(p *servicetest.Deps) { p.UnitOfWork = work }).Webhooks
}

// waiting gives use cases that call look whenever they wait.
func (f *fixture) waiting(look func()) *webhooks.Service {
	return f.BuildServices(func(p *servicetest.Deps) {
		p.After = func(span time.Duration) <-chan time.Time {
			look()
			return f.after(span)
		}
	}).Webhooks
}

// WakeRelays implements ports.Doorbell. The use cases of this package commit no events.
func (f *fixture) WakeRelays() { f.t.Error("no event was committed") }

// WakeScans implements ports.Doorbell.
func (f *fixture) WakeScans() { f.rings.Add(1) }

// after records each wait and ends the wait at once.
func (f *fixture) after(d time.Duration) <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits = append(f.waits, d)
	over := make(chan time.Time, 1)
	over <- time.Time{}
	return over
}

// waited gives the waits since the last call.
func (f *fixture) waited() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.waits
	f.waits = nil
	return out
}

// anywhere accepts every target.
type anywhere struct{}

func (anywhere) CheckHost(context.Context, string) error { return nil }

func (f *fixture) caller(slug string) partner.Caller {
	by, _ := f.CreateCaller(slug)
	return by
}

func (f *fixture) subscribe(by partner.Caller) id.ID {
	f.t.Helper()
	s := webhook.Subscription{ID: servicetest.NewID(), PartnerID: by.Partner.ID, URL: "https://pms.example/hook",
		Events: webhook.EventNames, Enabled: true, CreatedAt: f.clock.Now()}
	f.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
	})
	return s.ID
}

func (f *fixture) enable(enabled bool) {
	f.t.Helper()
	_, err := f.Webhooks.Update(f.t.Context(), f.by, f.sub, webhooks.SubscriptionChanges{Enabled: &enabled})
	require.NoError(f.t, err)
}

// sent adds n deliveries of sub in that state, a millisecond apart, the last created ago. It gives their ids, oldest
// first.
func (f *fixture) sent(sub id.ID, n int, state webhook.DeliveryState, ago time.Duration) []id.ID {
	f.t.Helper()
	rows, err := f.Pool.Query(f.t.Context(), `
		INSERT INTO deliveries (subscription_id, id, event_id, event, deposit_id, state, attempts, due_at, body, event_at,
		created_at, finished_at, taken_at)
		SELECT $1, overlay(gen_random_uuid()::text placing left(uuid_floor(at)::text, 14) || '7' from 1 for 15)::uuid,
		gen_random_uuid(), 'deposit.cancelled', gen_random_uuid(), $3::int2,
			CASE WHEN $3::int2 = 0 THEN 0 ELSE 11 END, CASE
			WHEN $3::int2 < 2 THEN at + interval '30 seconds' END, convert_to('{"n":' || n || '}', 'UTF8'), at, at,
			CASE WHEN $3::int2 >= 2 THEN at END, CASE WHEN $3::int2 = 2 THEN at END
		FROM generate_series(1, $2::int) n
		CROSS JOIN LATERAL (SELECT $4::timestamptz - ($2 - n) * interval '1 millisecond' AS at) t
		RETURNING id`, sub, n, state, f.clock.Now().Add(-ago))
	require.NoError(f.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	require.NoError(f.t, err)
	return ids
}

// answered records a 2xx for each redelivery that waits.
func (f *fixture) answered() {
	f.t.Helper()
	_, err := f.Pool.Exec(f.t.Context(), `UPDATE deliveries SET state = 2, attempts = 1, due_at = NULL,
		finished_at = now(), taken_at = now() WHERE redelivery_of IS NOT NULL AND state = 0`)
	require.NoError(f.t, err)
}

// repeated counts the redeliveries of each original of sub.
func (f *fixture) repeated(sub id.ID) map[id.ID]int {
	f.t.Helper()
	rows, err := f.Pool.Query(f.t.Context(), `
		SELECT r.redelivery_of FROM deliveries r JOIN deliveries o ON o.subscription_id = r.subscription_id
		AND o.id = r.redelivery_of AND o.body = r.body
			AND o.event_id = r.event_id AND o.event = r.event AND o.deposit_id IS NOT DISTINCT FROM r.deposit_id
		WHERE r.subscription_id = $1`, sub)
	require.NoError(f.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	require.NoError(f.t, err)
	counts := map[id.ID]int{}
	for _, of := range all {
		counts[of]++
	}
	return counts
}

// once gives the counts of originals that were each redelivered once.
func once(originals ...[]id.ID) map[id.ID]int {
	want := map[id.ID]int{}
	for _, some := range originals {
		for _, o := range some {
			want[o] = 1
		}
	}
	return want
}
