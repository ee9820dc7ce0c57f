package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/lab/world"
)

// suite holds what a run of the fault suite starts: stores, proxies, processes, receivers and load.
type suite struct {
	o        options
	variant  variant
	dir      string // Directory of the built commands.
	services *backing.PostgresAndRedis
	*world.Database
	// A connection to Redis without a proxy, for this program.
	redis     *goredis.Client
	receipts  *receiptLog
	receivers *receivers
	// Fake of the payment provider; nil: the sandbox's provider.
	fake      *stripetest.Fake
	partners  []*world.Partner
	load      *load
	followers []*follower
	unfollow  func() // A function that ends the simulated readers of the feeds.

	https, dispatchers []*node
	cleanups

	mu sync.Mutex
	// Times at which a process died or was suspended while the delivery was in flight.
	inFlight map[pair][]time.Time
	hits     map[string]int // Kills so far at each failpoint, by label.

	began time.Time
	// Extra rounds of kills for failpoints not reached before.
	retried int
}

// service is the name of the database and of the processes' role, which has no administrator's privileges.
const service = "service"

// inSuite starts the stores, receivers and processes, calls work, and ends everything in reverse order. dir holds
// the built commands.
func inSuite(ctx context.Context, o options, dir string, v variant, work func(w *suite) error) error {
	w := &suite{
		o: o, variant: v, dir: dir, began: time.Now(), receipts: newReceiptLog(), inFlight: map[pair][]time.Time{},
		hits: map[string]int{},
	}
	defer func() {
		for _, end := range slices.Backward(w.cleanups) {
			end()
		}
	}()
	if err := inTurn(ctx, w.openStores, w.openReceivers, w.openProvider, w.seed, w.startNodes); err != nil {
		return err
	}
	w.follow()
	w.Cleanup(func() { w.unfollow(); w.load.stop() })
	return work(w)
}

func (w *suite) openStores(ctx context.Context) (err error) {
	// Postgres uses fsync and Redis its append-only file, as in production. The time limits are long: on a busy disk
	// a recovery may take a minute, which is no fault of the service.
	w.services, err = backing.StartPostgresAndRedis(ctx,
		backing.Options{Private: true, RedisAOF: true, InMemory: w.o.relaxed, Logf: w.o.logf})
	if err != nil {
		return err
	}
	w.Cleanup(func() {
		if err := w.services.Close(); err != nil {
			w.o.logf("faults: cannot clean up: %v", err)
		}
	})
	url, err := world.CreateDatabase(ctx, w.services.PostgresURL, service, service)
	if err != nil {
		return err
	}
	if _, err := migrations.Up(ctx, url, nil); err != nil {
		return err
	}
	const conns = 6
	w.Database, err = world.OpenDatabase(ctx, world.RewriteDatabaseURL(w.services.PostgresURL, "", "", service), conns)
	if err != nil {
		return err
	}
	redisOptions, err := goredis.ParseURL(w.services.RedisURL)
	w.redis = goredis.NewClient(redisOptions)
	w.Cleanup(func() { w.Database.Close(context.Background()); _ = w.redis.Close() })
	return err
}

func (w *suite) startNodes(ctx context.Context) error {
	for i := range w.o.nodes {
		if err := errors.Join(w.addNode("http", i), w.addNode("dispatcher", i)); err != nil {
			return err
		}
	}
	return each(ctx, w.nodes(), (*node).begin)
}

func (w *suite) nodes() []*node { return slices.Concat(w.https, w.dispatchers) }

// addNode prepares a process with proxied connections to Postgres and Redis.
func (w *suite) addNode(command string, index int) (err error) {
	n := &node{suite: w, http: command == "http"}
	name := fmt.Sprintf("%s %d", command, index+1)
	if n.ServiceProcess, err = world.NewServiceProcess(name, filepath.Join(w.dir, command),
		w.environment()...); err != nil {
		return err
	}
	upstream := world.HostPort(w.services.PostgresURL)
	if !n.http && w.variant.rules != nil {
		upstream = pgproxy.StartMessageProxy(w, upstream, w.variant.rewrite)
	}
	n.pg = pgproxy.NewTCPProxy(w, upstream)
	n.redis = pgproxy.NewTCPProxy(w, world.HostPort(w.services.RedisURL))
	n.Env = append(n.Env, "DATABASE_URL="+world.RewriteDatabaseURL(w.services.PostgresURL, service, n.pg.Address, service),
		"REDIS_URL=redis://"+n.redis.Address+"/0")
	w.Cleanup(func() {
		if n.Process() != nil {
			n.expectEnd(true).Kill()
		}
	})
	if n.http {
		w.https, w.load.bases = append(w.https, n), append(w.load.bases, n.Base)
	} else {
		w.dispatchers = append(w.dispatchers, n)
	}
	if w.o.logs != "" {
		n.Log, err = os.Create(filepath.Join(w.o.logs, strings.ReplaceAll(name, " ", "-")+".log"))
	}
	return err
}

// retries are the delays between attempts of a delivery: short enough for a run, long enough in total for an
// outage.
var retries = []string{"0s", "300ms", "600ms", "1s", "2s", "4s", "8s"}

func (w *suite) environment() []string {
	settings := []string{
		"PATH=" + os.Getenv("PATH"), "GORACE=halt_on_error=1 exitcode=66 atexit_sleep_ms=0", "LOG_LEVEL=warn",
		"WEBHOOK_TIMEOUT=" + timeout.String(), "WEBHOOK_RETRY_SCHEDULE=" + strings.Join(retries, ","),
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true",
		"WEBHOOK_CONCURRENCY=8", // With so few webhook workers, all are busy now and then.
		// With a cover of two seconds, secured deposits expire.
		"COVERAGE_MAX=2s",
		"SCHEDULER_INTERVAL=500ms",
		// No deposit in checkout may expire during a run: the comparison at its end does not expect it.
		"CHECKOUT_IDLE_AFTER=24h",
		"RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}
	if w.o.money {
		settings = append(settings,
			"PAYMENTS_PROVIDER=stripe", "STRIPE_API_BASE="+w.fake.URL(), "STRIPE_SECRET_KEY="+stripetest.SecretKey,
			"STRIPE_WEBHOOK_SECRET="+stripetest.WebhookSecret,
			"COLLECTION_RETRY_SCHEDULE=0s,2s,4s", "TRUSTED_PROXIES=127.0.0.1",
			// No deposit expires under so long a cover while payments are made.
			"COVERAGE_MAX=1440h",
		)
	}
	return settings
}

// cleanups are functions that end what the suite has opened, in place of a *testing.T for fake servers.
type cleanups []func()

func (c *cleanups) Cleanup(end func()) { *c = append(*c, end) }

// Fatalf panics, when a fake server finds no free port.
func (c *cleanups) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
