package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/world"
)

// workbench holds what a benchmark runs: stores, processes and the receiver of webhooks.
type workbench struct {
	*site              // The installation whose processes run now.
	sites              []*site
	dir                string
	services           *backing.PostgresAndRedis
	https, dispatchers []*world.ServiceProcess // The http and dispatcher processes that run now.
	// A client of the partner API that calls all http processes in turn.
	api       *client
	receiver  *procs.Process // The receiver of webhooks; sink is its base URL.
	sink      string
	yardstick *yardstick // The database for pgbench; nil until a step needs it.
	partners  int        // Number of partners created so far.
	perEvent  int        // The number of subscriptions of a partner, so of deliveries of an event.
	// The webhook subscriptions of the running benchmark round.
	subscriptions []id.ID
	// Functions that end what the benchmark has started, last first.
	ends []func() error
}

// open starts what a benchmark needs. close also ends what a failed open has started.
func (w *workbench) open(ctx context.Context, o options) {
	w.dir = must(os.MkdirTemp("", "bench"))
	w.services = must(backing.StartPostgresAndRedis(ctx, backing.Options{Private: true, RedisAOF: true}))
	w.ends = append(w.ends, func() error { return os.RemoveAll(w.dir) }, w.services.Close)
	if w.services.Postgres.Pid() == 0 || w.services.Redis.Pid() == 0 {
		check(errors.New("the CPU of servers in containers cannot be counted: set TEST_SERVICES=native"))
	}
	if o.postgres != "" {
		w.tune(ctx, o.postgres)
	}
	w.openSites(ctx, o)
	w.startReceiver(ctx)
	w.ends = append(w.ends, w.leave)
}

// enter replaces the running processes by those of a variant, and empties Redis.
func (w *workbench) enter(ctx context.Context, v loadVariant) {
	check(w.leave())
	w.site = v.site
	check(w.redis.FlushDB(ctx).Err())
	var bases []string
	for range v.https {
		n := w.start(ctx, "http")
		w.https, bases = append(w.https, n), append(bases, n.Base)
	}
	w.api = newClient(bases...)
	for range v.dispatchers {
		n := w.start(ctx, "dispatcher", "API_BASE_URL="+bases[0], "DASHBOARD_BASE_URL="+bases[0])
		w.dispatchers = append(w.dispatchers, n)
	}
}

// start starts a process of the measured installation, and waits until it is ready.
func (w *workbench) start(ctx context.Context, name string, settings ...string) *world.ServiceProcess {
	n := must(world.NewServiceProcess(name, filepath.Join(w.binaries, name)))
	n.Env = slices.Concat(os.Environ(), []string{
		"DATABASE_URL=" + w.postgresURL, "REDIS_URL=" + w.redisURL, "LOG_LEVEL=warn",
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true", "RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}, n.Env, settings)
	check(n.Start())
	check(n.AwaitReady(ctx))
	return n
}

func (w *workbench) leave() error {
	var errs []error
	for _, n := range slices.Concat(w.dispatchers, w.https) {
		if n.Process().Running() {
			errs = append(errs, n.Process().Stop(40*time.Second))
		}
	}
	w.https, w.dispatchers = nil, nil
	return errors.Join(errs...)
}

func (w *workbench) startReceiver(ctx context.Context) {
	port := strconv.Itoa(must(backing.FreePort()))
	w.receiver = must(procs.Start(procs.ProcessSpec{Name: receiverRole, Path: must(os.Executable()),
		Args: []string{receiverRole, port}, Env: os.Environ()}))
	w.ends = append(w.ends, func() error { w.receiver.Kill(); return nil })
	ctx, cancel := context.WithTimeout(ctx, world.MaxStartTime)
	defer cancel()
	w.sink = "http://127.0.0.1:" + port
	check(w.receiver.AwaitHTTPOK(ctx, w.sink+"/count"))
}

func (w *workbench) close() {
	for _, end := range slices.Backward(w.ends) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: stop:", err)
		}
	}
}

// webhookSecret signs for all subscriptions, so that the receiver needs no look-up.
const webhookSecret = "svc_whsec_bench"

// newPartners creates a variant's partners, each with an account and webhook subscriptions.
func (w *workbench) newPartners(ctx context.Context, v loadVariant) (all []world.Partner) {
	for i := range v.partners {
		w.partners++
		p := must(w.CreatePartner(ctx, "bench-"+strconv.Itoa(w.partners)))
		for nth := range w.perEvent {
			url := w.subscriptionURL(v, i) + "?" + strconv.Itoa(nth)
			s := must(w.CreateSubscription(ctx, p, url, webhook.EventNames, webhookSecret))
			w.subscriptions = append(w.subscriptions, s)
		}
		all = append(all, p)
	}
	return all
}

// subscriptionURL returns the webhook address of the i-th partner, on a host of its own. The first v.hanging
// addresses hang.
func (w *workbench) subscriptionURL(v loadVariant, i int) string {
	base := strings.Replace(w.sink, "127.0.0.1", hostOf(i), 1)
	if i < v.hanging {
		return base + "/hang"
	}
	return base + "/"
}

// unsubscribe deletes the round's subscriptions: their open deliveries would disturb later measurements.
func (w *workbench) unsubscribe(ctx context.Context) {
	check(w.Store.WithinTx(ctx, func(ctx context.Context) (err error) {
		for _, s := range w.subscriptions {
			err = errors.Join(err, w.Store.Subscriptions.Delete(ctx, s, system.Clock{}.Now()))
		}
		return err
	}))
	w.subscriptions = nil
}

// checkpoint makes Postgres write dirty pages, so that a measurement does not pay for earlier writes.
func (w *workbench) checkpoint(ctx context.Context) { must(w.Pool.Exec(ctx, `CHECKPOINT`)) }

// site is an installation of the service with databases of its own. Only one installation runs at a time.
type site struct {
	*world.Database
	// Name of the installation in result tables; "" if it is the only one.
	name string
	// Directory of the binaries http, dispatcher and admin.
	binaries string
	// Number of rows to store before the first measurement.
	stock int

	postgresURL, redisURL string
	redis                 *redis.Client
}

// openSites creates the installations to compare: a base and a new version, an empty and a full database, or this
// version alone.
func (w *workbench) openSites(ctx context.Context, o options) {
	w.sites = []*site{{name: "base", binaries: o.base, stock: o.stock}, {name: "new", binaries: o.fresh, stock: o.stock}}
	if o.base == "" {
		check(procs.BuildOptions{}.CompileTo(ctx, w.dir+string(filepath.Separator), "cmd/http", "cmd/dispatcher",
			"cmd/admin"))
		w.sites = []*site{{binaries: w.dir}}
		if o.stock > 0 {
			w.sites = []*site{{name: "empty", binaries: w.dir}, {name: "stocked", binaries: w.dir, stock: o.stock}}
		}
	}
	for i, s := range w.sites {
		s.postgresURL = must(world.CreateDatabase(ctx, w.services.PostgresURL, "bench"+strconv.Itoa(i), ""))
		s.redisURL = strings.TrimSuffix(w.services.RedisURL, "/0") + "/" + strconv.Itoa(i)
		s.redis = redis.NewClient(must(redis.ParseURL(s.redisURL)))
		env := append(os.Environ(), "DATABASE_URL="+s.postgresURL, "REDIS_URL="+s.redisURL)
		must(procs.RunForOutput(ctx, procs.ProcessSpec{Name: "admin", Path: filepath.Join(s.binaries, "admin"),
			// The admin command of the same version migrates an installation's database.
			Args: []string{"migrate", "up"}, Env: env}))
		s.Database = must(world.OpenDatabase(ctx, s.postgresURL, 4))
		w.ends = append(w.ends, func() error { s.Close(context.Background()); return s.redis.Close() })
		if s.stock > 0 {
			amount := stock.RowCounts{Deposits: s.stock, Deliveries: s.stock, Events: s.stock / 10}
			check(stock.FillDatabase(ctx, s.Pool, must(stock.CreateRowOwners(ctx, s.Pool, 1, 10)), amount))
		}
	}
}

// tune sets Postgres settings, given as comma-separated name=value, and restarts the server.
func (w *workbench) tune(ctx context.Context, settings string) {
	conn := must(pgx.Connect(ctx, w.services.PostgresURL))
	for setting := range strings.SplitSeq(settings, ",") {
		name, value, _ := strings.Cut(setting, "=")
		must(conn.Exec(ctx, "ALTER SYSTEM SET "+name+" = '"+value+"'"))
	}
	check(conn.Close(ctx))
	check(w.services.Postgres.Restart(ctx))
}
