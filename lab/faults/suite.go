package main

import (
	"context"
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
	network   *network
	receipts  *receiptLog
	receivers *receivers
	post      *postOffice
	mailLog   mailLog
	partners  []*testPartner
	load      *load
	followers *followers // of the feeds

	https, dispatchers []*node
	// spare is a third dispatcher, which only some faults start.
	spare *node
	cleanups

	mu            sync.Mutex
	inFlightLists []inFlight
	redisOnly     []period       // periods in which only Redis was disturbed
	hits          map[string]int // kills by failpoint

	retried  int  // storms for failpoints that were not reached
	restored bool // the database is the restored one
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
	w = &suite{o: o, variant: v, dir: dir, receipts: newReceiptLog(), network: newNetwork(), hits: map[string]int{}}
	w.mailLog.requested = map[mailTo]string{}
	for _, step := range []func(context.Context) error{w.openStores, w.openReceivers, w.seed, w.startNodes} {
		if err := step(ctx); err != nil {
			w.close()
			return nil, err
		}
	}
	w.follow()
	return w, nil
}

func (w *suite) openStores(ctx context.Context) (err error) {
	// Postgres runs with fsync and Redis with its append-only file, as in production.
	w.services, err = backing.Start(ctx, backing.Options{Private: true, RedisAOF: true, Logf: w.o.logf})
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
	w.Database, err = world.Open(ctx, world.At(w.services.PostgresURL, "", "", w.database()), conns)
	return err
}

func (w *suite) database() string {
	if w.restored {
		return restoredTo
	}
	return serviceDatabase
}

// databaseURL is the service's URL of its database; address "" is that of Postgres itself.
func (w *suite) databaseURL(address string) string {
	return world.At(w.services.PostgresURL, serviceRole, address, w.database())
}

func (w *suite) openReceivers(context.Context) (err error) {
	if w.receivers, err = newReceivers(w.o.seed, w.receipts); err != nil {
		return err
	}
	w.Cleanup(w.receivers.close)
	w.post = newPostOffice(w, w.o.seed)
	return nil
}

func (w *suite) startNodes(ctx context.Context) error {
	for i := range w.o.nodes {
		n, err := w.newNode("http", i)
		if err != nil {
			return err
		}
		w.https = append(w.https, n)
		w.load.bases = append(w.load.bases, n.Base)
	}
	for i := range w.o.nodes + 1 {
		n, err := w.newNode("dispatcher", i)
		if err != nil {
			return err
		}
		if w.spare = n; i < w.o.nodes {
			w.dispatchers = append(w.dispatchers, n)
		}
	}
	for _, n := range w.nodes() {
		if err := n.begin(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nodes are the processes that usually run.
func (w *suite) nodes() []*node { return slices.Concat(w.https, w.dispatchers) }

func (w *suite) newNode(command string, index int) (_ *node, err error) {
	n := &node{suite: w, index: index, http: command == "http"}
	name := fmt.Sprintf("%s %d", command, index+1)
	if n.Node, err = world.NewNode(name, filepath.Join(w.dir, command), w.environment()...); err != nil {
		return nil, err
	}
	upstream := w.variant.postgres(w, command, world.Host(w.services.PostgresURL))
	if n.pg, err = w.network.link(name+" to Postgres", upstream); err != nil {
		return nil, err
	}
	if n.redis, err = w.network.link(name+" to Redis", world.Host(w.services.RedisURL)); err != nil {
		return nil, err
	}
	if command == "dispatcher" {
		n.Args = w.variant.args
	}
	n.Env = append(n.Env, "REDIS_URL=redis://"+n.redis.address()+"/0",
		fmt.Sprintf("WEBHOOK_EVENT_ID_HEADER=%v", index == 0), // lets receivers tell the dispatchers apart
		"SMTP_URL=smtp://"+w.post.Address, "MAIL_FROM="+strings.ReplaceAll(name, " ", "-")+"@"+mailDomain)
	w.Cleanup(func() {
		if n.Process() != nil {
			n.expectEnd(true).Kill()
		}
		n.pg.cut()
		n.redis.cut()
	})
	if w.o.logs == "" {
		return n, nil
	}
	file, err := os.Create(filepath.Join(w.o.logs, strings.ReplaceAll(name, " ", "-")+".log"))
	n.Log = file
	return n, err
}

// retries of deliveries: short enough for a run to wait for them, long enough in total to survive an outage.
var retries = []string{"0s", "300ms", "600ms", "1s", "2s", "4s", "8s"}

func (w *suite) environment() []string {
	return append(w.money(),
		"PATH="+os.Getenv("PATH"), "GORACE=halt_on_error=1 exitcode=66 atexit_sleep_ms=0", "LOG_LEVEL=warn",
		"WEBHOOK_TIMEOUT="+w.o.timeout.String(), "WEBHOOK_RETRY_SCHEDULE="+strings.Join(retries, ","),
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true",
		"WEBHOOK_CONCURRENCY=8", // so few that all are busy now and then
		"COVERAGE_MAX="+w.coverage(), "SCHEDULER_INTERVAL=500ms",
		// a run can last longer than the usual half an hour, and the audit knows no incomplete deposit
		"CHECKOUT_IDLE_AFTER=24h",
		"RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	)
}

// lease is the time for which a claim is valid.
func (w *suite) lease() time.Duration { return w.o.timeout + 20*time.Second }

// close ends the load, the followers, and all that was opened, the last first.
func (w *suite) close() {
	if w.load != nil {
		w.load.stop()
	}
	if w.followers != nil {
		w.followers.stop()
	}
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
