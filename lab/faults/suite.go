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

	"github.com/Shopify/toxiproxy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/lab/world"
)

// suite is everything that runs: stores, links, the service's processes, receivers and load.
type suite struct {
	o        options
	variant  variant
	dir      string // of the built commands
	services *backing.Services
	*world.Database
	redis     *goredis.Client // this program's own, without a link, as the database
	links     *toxiproxy.ApiServer
	receipts  *receiptLog
	receivers *receivers
	post      *postOffice
	mailLog   mailLog
	fake      *stripetest.Fake // of the payment provider; nil: the sandbox's
	partners  []*world.Partner
	load      *load
	followers []*follower // of the feeds
	unfollow  func()      // ends the followers

	https, dispatchers []*node
	// spare is a third dispatcher, which only some faults start.
	spare *node
	cleanups

	mu        sync.Mutex
	inFlight  map[pair][]time.Time // deaths and suspensions during which a delivery was dispatched and not recorded
	redisOnly []period             // periods in which only Redis was disturbed
	hits      map[string]int       // kills by failpoint

	began    time.Time
	retried  int    // storms for failpoints that were not reached
	database string // the name of the service's, in Postgres
}

// Names in the private Postgres. The services use a role without privileges, so that their connections can be told
// apart from others.
const (
	serviceRole     = "service"
	serviceDatabase = "service"
	restoredTo      = "restored" // the database that a restore makes
)

// newSuite starts everything. dir contains the built commands.
func newSuite(ctx context.Context, o options, dir string, v variant) (w *suite, err error) {
	w = &suite{
		o: o, variant: v, dir: dir, began: time.Now(), receipts: newReceiptLog(), inFlight: map[pair][]time.Time{},
		hits: map[string]int{}, database: serviceDatabase, mailLog: mailLog{requested: map[mailTo]string{}},
		links: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
	}
	if err := inTurn(ctx, w.openStores, w.openReceivers, w.openProvider, w.seed, w.startNodes); err != nil {
		w.close()
		return nil, err
	}
	w.follow()
	w.Cleanup(func() { w.unfollow(); w.load.stop() })
	return w, nil
}

func (w *suite) openStores(ctx context.Context) (err error) {
	// Postgres runs with fsync and Redis with its append-only file, as in production. On a busy disk, Postgres may need a
	// minute to recover from a crash, and Redis blocks while it writes that file: neither is a fault of the service.
	w.services, err = backing.Start(ctx,
		backing.Options{Private: true, RedisAOF: true, InMemory: w.o.relaxed, Logf: w.o.logf})
	if err != nil {
		return err
	}
	w.Cleanup(func() {
		if err := w.services.Close(); err != nil {
			w.o.logf("faults: cannot clean up: %v", err)
		}
	})
	url, err := world.Create(ctx, w.services.PostgresURL, serviceDatabase, serviceRole)
	if err != nil {
		return err
	}
	if _, err := migrations.Up(ctx, url, nil); err != nil {
		return err
	}
	if err := w.openDatabase(ctx); err != nil {
		return err
	}
	redisOptions, err := goredis.ParseURL(w.services.RedisURL)
	w.redis = goredis.NewClient(redisOptions)
	w.Cleanup(func() { w.Database.Close(context.Background()); _ = w.redis.Close() })
	return err
}

// openDatabase opens this program's own pool of the service's database.
func (w *suite) openDatabase(ctx context.Context) (err error) {
	const conns = 6
	w.Database, err = world.Open(ctx, world.At(w.services.PostgresURL, "", "", w.database), conns)
	return err
}

// databaseURL is the service's URL of its database; address "" is that of Postgres itself.
func (w *suite) databaseURL(address string) string {
	return world.At(w.services.PostgresURL, serviceRole, address, w.database)
}

func (w *suite) startNodes(ctx context.Context) error {
	for i := range w.o.nodes {
		if err := errors.Join(w.addNode("http", i), w.addNode("dispatcher", i)); err != nil {
			return err
		}
	}
	return errors.Join(w.addNode("dispatcher", w.o.nodes), each(ctx, w.nodes(), (*node).begin))
}

// nodes are the processes that usually run.
func (w *suite) nodes() []*node { return slices.Concat(w.https, w.dispatchers) }

// addNode makes a process of a command with its links. The last dispatcher is spare.
func (w *suite) addNode(command string, index int) (err error) {
	n := &node{suite: w, index: index, http: command == "http"}
	name := fmt.Sprintf("%s %d", command, index+1)
	if n.Node, err = world.NewNode(name, filepath.Join(w.dir, command), w.environment()...); err != nil {
		return err
	}
	upstream := w.variant.postgres(w, command, world.Host(w.services.PostgresURL))
	if n.pg, err = w.link(name+" to Postgres", upstream); err != nil {
		return err
	}
	if n.redis, err = w.link(name+" to Redis", world.Host(w.services.RedisURL)); err != nil {
		return err
	}
	n.Env = append(n.Env, "REDIS_URL=redis://"+n.redis.Listen+"/0",
		fmt.Sprintf("WEBHOOK_EVENT_ID_HEADER=%v", index == 0), // lets receivers tell the dispatchers apart
		"SMTP_URL=smtp://"+w.post.Address, "MAIL_FROM="+n.sender()+"@"+mailDomain)
	w.Cleanup(func() {
		if n.Process() != nil {
			n.expectEnd(true).Kill()
		}
		n.pg.Stop()
		n.redis.Stop()
	})
	switch {
	case n.http:
		w.https = append(w.https, n)
		w.mu.Lock()
		w.load.bases = append(w.load.bases, n.Base)
		w.mu.Unlock()
	case index < w.o.nodes:
		n.Args, w.dispatchers = w.variant.args, append(w.dispatchers, n)
	default:
		n.Args, w.spare = w.variant.args, n
	}
	if w.o.logs != "" {
		n.Log, err = os.Create(filepath.Join(w.o.logs, n.sender()+".log"))
	}
	return err
}

// retries of deliveries: short enough for a run to wait for them, long enough in total to survive an outage.
var retries = []string{"0s", "300ms", "600ms", "1s", "2s", "4s", "8s"}

func (w *suite) environment() []string {
	settings := []string{
		"PATH=" + os.Getenv("PATH"), "GORACE=halt_on_error=1 exitcode=66 atexit_sleep_ms=0", "LOG_LEVEL=warn",
		"WEBHOOK_TIMEOUT=" + w.o.timeout.String(), "WEBHOOK_RETRY_SCHEDULE=" + strings.Join(retries, ","),
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true",
		"WEBHOOK_CONCURRENCY=8", // so few that all are busy now and then
		"COVERAGE_MAX=2s",       // secured deposits expire during the run
		"SCHEDULER_INTERVAL=500ms",
		// a run can last longer than the usual half an hour, and the audit knows no incomplete deposit
		"CHECKOUT_IDLE_AFTER=24h",
		"RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}
	if w.o.money {
		settings = append(settings,
			"PAYMENTS_PROVIDER=stripe", "STRIPE_API_BASE="+w.fake.URL(), "STRIPE_SECRET_KEY="+stripetest.SecretKey,
			"STRIPE_WEBHOOK_SECRET="+stripetest.WebhookSecret,
			"COLLECTION_RETRY_SCHEDULE=0s,2s,4s", "TRUSTED_PROXIES=127.0.0.1",
			"COVERAGE_MAX=1440h", // no cover ends while stays are paid
		)
	}
	return settings
}

// lease is the time for which a claim is valid.
func (w *suite) lease() time.Duration { return w.o.timeout + 20*time.Second }

// close ends all that was opened, the last first.
func (w *suite) close() {
	for _, end := range slices.Backward(w.cleanups) {
		end()
	}
}

// cleanups end what was opened. The servers of the kit take them in place of a test.
type cleanups []func()

// Cleanup implements hostiletest.TB.
func (c *cleanups) Cleanup(end func()) { *c = append(*c, end) }

// Fatalf implements hostiletest.TB: the machine has no port left.
func (c *cleanups) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
