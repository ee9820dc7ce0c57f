//go:build long

package e2e_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	generator "partnerdeposits/lab/load"
	"partnerdeposits/lab/receiver"
)

// watched is a service with its Prometheus and Alertmanager.
type watched struct {
	*deployment
	t               *testing.T
	postgres, redis *backing.Server
	http, dispatch  *member
	second          *member // another dispatcher, or nil
	secondHTTP      *member // another http, or nil
	account         string
	mailServer      string       // address
	silent          net.Listener // at mailServer: takes connections and says nothing
	cut             wayOut       // shut receivers
	receiver        *hook
	pager           *pager
	readLog         func() // has the log read again that nobody reads
	prometheus      prometheus
	database        string
	silence         atomic.Bool // clients send nothing
}

// watchedOf is a watched service that differs from the usual one.
type watchedOf struct {
	rules   string // a directory; "": deployments/prometheus
	pager   func(config string) string
	environ []string
	second  bool // two dispatchers
	// secondHTTP: two http; the load goes to the first.
	secondHTTP bool
	history    bool          // Prometheus has recordings of eight days with steady traffic
	scrapes    time.Duration // interval; 0: a second
	// mailServer is the address in SMTP_URL; "": none.
	mailServer string
}

func newWatched(t *testing.T, of watchedOf) *watched {
	t.Helper()
	services, err := backing.StartPostgresAndRedis(t.Context(),
		backing.Options{Private: true, FastUnsafe: true, Logf: t.Logf})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, services.Close()) })
	x := &watched{t: t, postgres: services.Postgres, redis: services.Redis, database: services.PostgresURL,
		receiver: newReceiver(t), mailServer: of.mailServer}
	code, _, stderr := run(t, []string{"DATABASE_URL=" + x.database, "REDIS_URL=" + services.RedisURL}, "admin", "migrate",
		"up")
	require.Zero(t, code, stderr)
	if of.mailServer != "" {
		of.environ = append(of.environ, "SMTP_URL=smtp://"+of.mailServer, "MAIL_FROM=Deposits <no-reply@example.com>")
	}
	environ := append([]string{"RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000",
		"WEBHOOK_TIMEOUT=5s"}, of.environ...)
	x.deployment = worldOn(t, x.database, services.RedisURL, environ...)
	x.http, x.dispatch = x.member(t, "http", x.baseURL), x.member(t, "dispatcher", "")
	https, dispatchers := []*process{x.http.process}, []*process{x.dispatch.process}
	if of.secondHTTP {
		x.secondHTTP = x.member(t, "http", "http://"+freePort(t))
		https = append(https, x.secondHTTP.process)
	}
	if of.second {
		x.second = x.member(t, "dispatcher", "")
		dispatchers = append(dispatchers, x.second.process)
	}
	x.subscribe(t, x.receiver)
	x.account = x.link(t, "villa-33")
	x.pager = startPager(t, of.pager)
	x.prometheus = startPrometheus(t, prometheusOf{
		targets: map[string][]*process{"http": https, "dispatcher": dispatchers}, rules: of.rules,
		pager: x.pager.alertmanager, every: of.scrapes, history: of.history,
	})
	return x
}

// load creates and activates deposits until the test ends, whatever the answers: some ten a second.
func (x *watched) load() {
	x.steady(10, 4, func() {
		if !x.silence.Load() {
			_ = x.lifeOfADeposit(x.t, x.account, false) // faults fail requests
		}
	})
}

// steady calls over so many connections, at most so often a second, until the test ends.
func (x *watched) steady(perSecond, connections int, call func()) {
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		generator.RunSteadyLoop(ctx, perSecond, connections, func(next func() bool) {
			for next() {
				call()
			}
		})
	})
	x.t.Cleanup(func() { stop(); group.Wait() })
}

func (m *member) again(t *testing.T) {
	t.Helper()
	m.process = start(t, m.name, m.environ...).ready(t)
}

// sql runs statements over a connection of their own.
func (x *watched) sql(statements ...string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, x.database)
	require.NoError(x.t, err)
	defer func() { require.NoError(x.t, c.Close(ctx)) }()
	for _, s := range statements {
		_, err := c.Exec(ctx, s)
		require.NoError(x.t, err, s)
	}
}

// connections opens n idle connections, of the 297 that a test server has for users, and returns the way to close them.
func (x *watched) connections(n int) (end func()) {
	var open []*pgx.Conn
	for range n {
		c, err := pgx.Connect(context.Background(), x.database)
		require.NoError(x.t, err)
		open = append(open, c)
	}
	return func() {
		for _, c := range open {
			require.NoError(x.t, c.Close(context.Background()))
		}
	}
}

// retryEvents has the relay file the events that were set aside.
func (x *watched) retryEvents() {
	x.t.Helper()
	var list struct{ Events []struct{ ID string } }
	x.admin(x.t, &list, "outbox", "list")
	require.NotEmpty(x.t, list.Events)
	for _, e := range list.Events {
		x.admin(x.t, &struct{}{}, "outbox", "retry", "--id", e.ID)
	}
}

// fault is a fault, its alerts, and the end of it.
type fault struct {
	name  string
	fires []string
	begin func(x *watched) (end func())
}

// lockDeposits has requests wait for a table until they fail.
func lockDeposits(x *watched) (end func()) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, x.database)
	require.NoError(x.t, err)
	_, err = c.Exec(ctx, `BEGIN; LOCK TABLE deposits, api_keys IN ACCESS EXCLUSIVE MODE`)
	require.NoError(x.t, err)
	leave := x.startReaders(40)
	return func() {
		leave()
		require.NoError(x.t, c.Close(ctx))
	}
}

// startReaders starts n clients that read deposits without a pause, until leave is called.
func (x *watched) startReaders(n int) (leave func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range n {
		client := x.api(x.t)
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _, _ = client.do(http.MethodGet, "/deposits", nil) // a failure is the fault
				}
			}
		})
	}
	return func() { close(stop); all.Wait() }
}

// hang has the receiver leave POSTs unanswered until one dispatcher has n POSTs in flight, and for a second more.
// Chance decides how two dispatchers share the POSTs, so the dispatcher that has n becomes x.dispatch, the process that
// faults stop. n is below 50, the number of POSTs that the load sends before the first POST times out.
func (x *watched) hang(n int) {
	x.t.Helper()
	release := make(chan struct{})
	x.receiver.AnswerWith(func(int, receiver.Webhook) int {
		<-release
		return http.StatusOK
	})
	inFlight := func(m *member) int { return int(m.metric(`svc_webhook_inflight{lane="fast"}`)) }
	require.Eventually(x.t, func() bool {
		if x.second != nil && inFlight(x.second) > inFlight(x.dispatch) {
			x.dispatch, x.second = x.second, x.dispatch
		}
		return inFlight(x.dispatch) >= n
	}, soon, often, "%d POSTs in flight", n)
	x.t.Cleanup(func() { x.receiver.AnswerWith(nil) })
	time.AfterFunc(time.Second, func() { x.receiver.AnswerWith(nil); close(release) })
}

func (x *watched) count(sql string) (n int) {
	x.t.Helper()
	c, err := pgx.Connect(context.Background(), x.database)
	require.NoError(x.t, err)
	defer func() { require.NoError(x.t, c.Close(context.Background())) }()
	require.NoError(x.t, c.QueryRow(context.Background(), sql).Scan(&n))
	return n
}

// A client locks the relay out, again and again, and then another client locks tables: the objectives tell so. Slow
// burns end when their short window of six hours, six minutes here, holds no bad event.
func TestLong_AlertsOnObjectives_FireByAFaultAndClearAfterIt(t *testing.T) {
	x := newWatched(t, watchedOf{rules: fasterRules(t), pager: atOnce})
	x.load()
	began := time.Now()
	late := []string{"DeliveriesStartLateFast", "DeliveriesStartLateSlowly", "DeliveriesArriveLateFast",
		"DeliveriesArriveLateSlowly"}
	letIn := x.lockOut(countedFeeds, longestWait, shortPause)
	x.pager.await(t, "firing", 4*time.Minute, late...)
	letIn()
	failing := []string{"ApiErrorsFast", "ApiErrorsSlowly", "ApiSlowFast", "ApiSlowSlowly"}
	unlock := lockDeposits(x)
	x.pager.await(t, "firing", 2*time.Minute, failing...)
	unlock()
	fired := time.Since(began)
	x.pager.await(t, "resolved", 10*time.Minute, append(late, failing...)...)
	t.Logf("figure: %d alerts fired within %.0f s, and cleared within %.0f s", len(late)+len(failing), fired.Seconds(),
		(time.Since(began) - fired).Seconds())
}

// A stop of everything pages within five minutes, with the rules and the Alertmanager's configuration as they are.
func TestLong_StopOfEverything_IsPagedWithinFiveMinutes(t *testing.T) {
	x := newWatched(t, watchedOf{pager: func(config string) string { return config }})
	passes(t, 5*time.Second)
	stopped := time.Now()
	x.http.Kill()
	x.dispatch.Kill()
	require.NoError(t, x.postgres.Stop(true))
	require.NoError(t, x.redis.Kill())
	x.pager.await(t, "firing", 5*time.Minute, "HttpAbsent", "DispatcherAbsent")
	t.Logf("figure: paged after %.0f s, at a scrape a second; scrapes every 15 s add 15 s at most",
		time.Since(stopped).Seconds())
	require.NoError(t, x.postgres.Restart(t.Context()))
	require.NoError(t, x.redis.Restart(t.Context()))
}

// The receivers of a partner refuse, hang and are away, and others get their deliveries: nobody is paged.
func TestLong_BrokenReceivers_PageNobody(t *testing.T) {
	x := newWatched(t, watchedOf{rules: fasterRules(t), pager: atOnce})
	refusing, hanging := newReceiver(t), newReceiver(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	refusing.AnswerWith(func(int, receiver.Webhook) int { return http.StatusInternalServerError })
	hanging.AnswerWith(func(int, receiver.Webhook) int { <-release; return http.StatusOK })
	x.subscribe(t, refusing)
	x.subscribe(t, hanging)
	x.load()
	passes(t, 90*time.Second)
	refusing.AnswerWith(nil) // its backlog is old, and is delivered now
	passes(t, 60*time.Second)
	require.Greater(t, len(refusing.All()), 20)
	require.Greater(t, len(x.receiver.Accepted()), 200)
	for _, name := range x.pager.pages() {
		require.Equal(t, "ApiSlowFast", name, "a busy machine may answer slowly; no other page")
	}
	t.Logf("figure: %d deliveries to others, %d after the repair of a receiver, no page", len(x.receiver.Accepted()),
		len(refusing.Accepted()))
	seen := x.pager.in("resolved")
	for _, name := range []string{"DeliveriesStartLateFast", "DeliveriesArriveLateFast", "DeliveriesStand",
		"OutboxStands"} {
		require.False(t, seen[name], "%s paged", name)
	}
}
