//go:build !unit

package dispatch_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/adapters/system"
	sender "partnerdeposits/adapters/webhook"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	webhooks "partnerdeposits/lab/receiver"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// fixture is a kit with a partner and the store of a dispatcher.
type fixture struct {
	*servicetest.Kit
	t       testing.TB
	work    *dispatchstore.Store
	redis   redis.UniversalClient
	bell    chan struct{}
	due     chan struct{}
	partner id.ID
}

func newFixture(t testing.TB) *fixture { return newFixtureOn(t, redistest.New(t)) }

func newFixtureOn(t testing.TB, client redis.UniversalClient) *fixture {
	if test, ok := t.(*testing.T); ok {
		test.Parallel()
	}
	f := &fixture{t: t, redis: client, bell: make(chan struct{}, 1), due: make(chan struct{}, 1)}
	f.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Redis, s.Pool.MaxConns, s.Store.Doorbell = client, 6, f
	})
	f.work = f.NewDispatchStore()
	f.partner = f.CreatePartnerWithSecret("demo", "", func(p *partner.Partner) {
		p.Name, p.ContactEmail = "Demo", "ops@demo.example"
	}).ID
	return f
}

// WakeRelays implements ports.Doorbell.
func (f *fixture) WakeRelays() { signal(f.bell) }

// WakeScans implements ports.Doorbell.
func (f *fixture) WakeScans() { signal(f.due) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func now() time.Time      { return system.Clock{}.Now() }
func newID() id.ID        { return servicetest.NewID() }
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// run starts a dispatcher; stop ends the dispatcher and waits.
func (f *fixture) run(change ...func(*dispatch.Deps, *dispatch.Config)) (stop func()) {
	deps := dispatch.Deps{
		Relay: f.work, Claims: f.work, Work: f.work, Endpoints: f.work, Queue: asynq.New(f.redis, quiet()),
		Sender: sender.NewSender(
			sender.Config{Timeout: 2 * time.Second, AllowInsecure: true, EndpointConcurrency: 64, UserAgent: "test"}),
		Clock: system.Clock{}, Metrics: noMetrics{}, Random: rand.Float64, Bell: f.bell, DueBell: f.due, Log: quiet(),
	}
	config := dispatch.Config{
		Schedule: webhook.RetrySchedule{0, 50 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond},
		Timeout:  2 * time.Second, Concurrency: 32, EndpointConcurrency: 16, ScanEvery: 20 * time.Millisecond,
	}
	for _, c := range change {
		c(&deps, &config)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	done := make(chan error, 1)
	go func() { done <- dispatch.New(deps, config).Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(f.t, <-done)
	})
	f.t.Cleanup(stop)
	return stop
}

type noMetrics struct{}

func (noMetrics) CountRelayed(int)                                                               {}
func (noMetrics) CountRecovered(int)                                                             {}
func (noMetrics) CountAttempt(webhook.EventName, webhook.AttemptResult, time.Duration, string)   {}
func (noMetrics) CountFinished(webhook.EventName, webhook.DeliveryStatus, time.Duration, string) {}
func (noMetrics) ObserveHealthyLatency(time.Duration, string)                                    {}
func (noMetrics) ObserveStartDelay(time.Duration, string)                                        {}
func (noMetrics) AddInFlight(string, int)                                                        {}
func (noMetrics) SetQueueMode(webhookports.QueueMode)                                            {}
func (noMetrics) CountRound(string, bool)                                                        {}

const key = secret.Text("svc_whsec_first")

func (f *fixture) subscribe(url string, events ...webhook.EventName) id.ID {
	if len(events) == 0 {
		events = webhook.EventNames
	}
	s := webhook.Subscription{ID: newID(), PartnerID: f.partner, URL: url, Events: events, Enabled: true, CreatedAt: now()}
	f.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Subscriptions.Insert(ctx, s, key) })
	return s.ID
}

// emit commits n events of that name.
func (f *fixture) emit(name webhook.EventName, n int) []id.ID {
	ids := make([]id.ID, n)
	f.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		for i := range ids {
			ids[i] = newID()
			e := ports.Event{ID: ids[i], PartnerID: f.partner, Name: name, DepositID: ids[i],
				Data: []byte(`{"id":"` + id.Deposit.Of(ids[i]) + `"}`), CreatedAt: now()}
			if err := r.Outbox.Append(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// states counts the deliveries by state.
func (f *fixture) states() map[webhook.DeliveryState]int {
	counts := map[webhook.DeliveryState]int{}
	rows, err := f.Pool.Query(context.WithoutCancel(f.t.Context()), `SELECT state, count(*) FROM deliveries GROUP BY 1`)
	require.NoError(f.t, err)
	var s webhook.DeliveryState
	var n int
	_, err = pgx.ForEachRow(rows, []any{&s, &n}, func() error { counts[s] = n; return nil })
	require.NoError(f.t, err)
	return counts
}

func (f *fixture) eventually(what string, ok func() bool) {
	f.t.Helper()
	require.Eventually(f.t, ok, 30*time.Second, 10*time.Millisecond, what)
}

func (f *fixture) allIn(state webhook.DeliveryState, n int) {
	f.t.Helper()
	f.eventually("all deliveries end", func() bool { s := f.states(); return s[state] == n && len(s) == 1 })
}

// receiver records the requests of an endpoint and checks each signature over the raw bytes.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	key string
	got []received
	// the status of the response; earlier is the number of requests before with the same body
	answer func(r received, earlier int) int
}

type received struct {
	body                        string
	event, timestamp, signature string
	valid                       bool
	at                          time.Time
}

func newReceiver(t testing.TB, answer func(r received, earlier int) int) *receiver {
	r := &receiver{key: string(key), answer: answer}
	r.Server = httptest.NewServer(webhooks.WebhookHandler(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w webhooks.Webhook) (webhooks.Responder, func(bool)) {
	g := received{
		body: string(w.Body), event: w.EventName(), timestamp: w.Header.Get("X-Svc-Timestamp"),
		signature: w.Header.Get("X-Svc-Signature"), at: w.At,
	}
	r.mu.Lock()
	g.valid = w.VerifySignature(r.key) == ""
	earlier := 0
	for _, o := range r.got {
		if o.body == g.body {
			earlier++
		}
	}
	r.got = append(r.got, g)
	r.mu.Unlock()
	status := http.StatusOK
	if r.answer != nil {
		status = r.answer(g, earlier)
	}
	return webhooks.RespondStatus(status), nil
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

func (r *receiver) rotate(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.key = key
}
