package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	goredis "github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/cmd/config"
	"partnerdeposits/cmd/wire"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

// world is everything that runs: stores, links, the service's processes, receivers and load.
type world struct {
	o         options
	commands  map[string]string // paths
	services  *backing.Services
	pool      *pgxpool.Pool // this program's own, without a link
	store     *postgres.Store
	redis     *goredis.Client // this program's own, too
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
	logs  []*os.File

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

// newWorld starts everything. dir contains the built commands: http and dispatcher, and those of the variant.
func newWorld(ctx context.Context, o options, dir string, v variant) (w *world, err error) {
	w = &world{o: o, commands: v.commands(dir), receipts: newReceiptLog(), network: newNetwork(), hits: map[string]int{}}
	defer func() {
		if err != nil {
			w.close()
			w = nil
		}
	}()
	if err := w.openStores(ctx); err != nil {
		return w, err
	}
	if w.receivers, err = newReceivers(o.seed, w.receipts); err != nil {
		return w, err
	}
	w.mailLog.requested = map[mailTo]string{}
	if w.post, err = newPostOffice(o.seed); err != nil {
		return w, err
	}
	if err := w.seed(ctx); err != nil {
		return w, err
	}
	if err := w.startNodes(ctx); err != nil {
		return w, err
	}
	w.follow()
	return w, nil
}

func (w *world) openStores(ctx context.Context) (err error) {
	// Postgres runs with fsync and Redis with its append-only file, as in production.
	if w.services, err = backing.Start(ctx, backing.Options{Private: true, RedisAOF: true, Logf: w.o.logf}); err != nil {
		return err
	}
	admin, err := pgxpool.New(ctx, w.services.PostgresURL)
	if err != nil {
		return err
	}
	defer admin.Close()
	for _, statement := range []string{"CREATE ROLE " + serviceRole + " LOGIN", "CREATE DATABASE " + serviceDatabase + " OWNER " + serviceRole} {
		if _, err := admin.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if _, err := migrations.Up(ctx, w.databaseURL(serviceRole, hostPort(w.services.PostgresURL)), nil); err != nil {
		return err
	}
	if err := w.openPool(ctx); err != nil {
		return err
	}
	redisOptions, err := goredis.ParseURL(w.services.RedisURL)
	w.redis = goredis.NewClient(redisOptions)
	return err
}

// openPool opens this program's own pool of the service's database.
func (w *world) openPool(ctx context.Context) error {
	url := w.databaseURL("postgres", hostPort(w.services.PostgresURL))
	cfg := config.Config{Environment: partner.Development, DatabaseURL: secret.Text(url)}
	stores, err := wire.OpenStore(ctx, cfg, slog.New(slog.DiscardHandler), postgres.PoolOptions{MaxConns: 6, StatementTimeout: 5 * time.Minute})
	if err == nil {
		w.pool, w.store = stores.Pool, stores.Postgres
	}
	return err
}

// hostPort is the host and port of a store's URL.
func hostPort(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func (w *world) databaseURL(user, address string) string {
	database := serviceDatabase
	if w.restored {
		database = restoredTo
	}
	return "postgres://" + user + "@" + address + "/" + database + "?sslmode=disable"
}

func (w *world) startNodes(ctx context.Context) error {
	for i := range w.o.nodes {
		n, err := w.newNode("http", i)
		if err != nil {
			return err
		}
		w.https = append(w.https, n)
	}
	for i := range w.o.nodes + 1 {
		n, err := w.newNode("dispatcher", i)
		if err != nil {
			return err
		}
		if i < w.o.nodes {
			w.dispatchers = append(w.dispatchers, n)
		} else {
			w.spare = n
		}
	}
	for _, n := range w.nodes() {
		if err := n.start(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// nodes are the processes that usually run.
func (w *world) nodes() []*node { return append(append([]*node(nil), w.https...), w.dispatchers...) }

func (w *world) newNode(command string, index int) (*node, error) {
	n := &node{world: w, name: fmt.Sprintf("%s %d", command, index+1), index: index, http: command == "http"}
	var err error
	if n.pg, err = w.network.link(n.name+" to Postgres", hostPort(w.services.PostgresURL)); err != nil {
		return nil, err
	}
	if n.redis, err = w.network.link(n.name+" to Redis", hostPort(w.services.RedisURL)); err != nil {
		return nil, err
	}
	port, err := backing.FreePort()
	if err != nil {
		return nil, err
	}
	metrics, err := backing.FreePort()
	if err != nil {
		return nil, err
	}
	address, metricsAddress := fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", metrics)
	base := "http://" + address
	n.ready = "http://" + metricsAddress + "/readyz"
	n.spec = procs.Spec{Name: n.name, Path: w.commands[command], Env: append(w.environment(), "REDIS_URL=redis://"+n.redis.address()+"/0",
		"HTTP_ADDR="+address, "METRICS_ADDR="+metricsAddress, "API_BASE_URL="+base, "DASHBOARD_BASE_URL="+base,
		fmt.Sprintf("WEBHOOK_EVENT_ID_HEADER=%v", index == 0))} // lets receivers tell the dispatchers apart
	n.spec.Env = append(n.spec.Env, w.post.environment(n.name)...)
	if command == "http" {
		w.load.bases = append(w.load.bases, base)
	}
	if w.o.logs == "" {
		return n, nil
	}
	file, err := os.Create(filepath.Join(w.o.logs, strings.ReplaceAll(n.name, " ", "-")+".log"))
	w.logs = append(w.logs, file)
	n.spec.Log = file
	return n, err
}

// retries of deliveries: short enough for a run to wait for them, long enough in total to survive an outage.
var retries = []string{"0s", "300ms", "600ms", "1s", "2s", "4s", "8s"}

func (w *world) environment() []string {
	return append(w.money(), []string{
		"PATH=" + os.Getenv("PATH"), "GORACE=halt_on_error=1 exitcode=66", "LOG_LEVEL=warn",
		"WEBHOOK_TIMEOUT=" + w.o.timeout.String(), "WEBHOOK_RETRY_SCHEDULE=" + strings.Join(retries, ","), "WEBHOOK_ALLOW_INSECURE_TARGETS=true",
		"WEBHOOK_CONCURRENCY=8", // so few that all are busy now and then
		"COVERAGE_MAX=" + w.coverage(), "SCHEDULER_INTERVAL=500ms",
		"CHECKOUT_IDLE_AFTER=24h", // a run can last longer than the usual half an hour, and the audit knows no incomplete deposit
		"RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}...)
}

// lease is the time for which a claim is valid.
func (w *world) lease() time.Duration { return w.o.timeout + 20*time.Second }

func (w *world) close() {
	if w.load != nil {
		w.load.stop()
	}
	if w.followers != nil {
		w.followers.stop()
	}
	for _, n := range append(w.nodes(), w.spare) {
		if n != nil && n.current() != nil {
			n.expectEnd(true).Kill()
			n.pg.close()
			n.redis.close()
		}
	}
	if w.receivers != nil {
		w.receivers.close()
	}
	if w.post != nil {
		w.post.close()
	}
	if w.redis != nil {
		_ = w.redis.Close()
	}
	if w.store != nil {
		w.store.Close(context.Background())
	}
	if w.pool != nil {
		w.pool.Close()
	}
	for _, file := range w.logs {
		_ = file.Close()
	}
	var err error
	if w.services != nil {
		err = w.services.Close()
	}
	if err != nil {
		w.o.logf("faults: cannot clean up: %v", err)
	}
}
