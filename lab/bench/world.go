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

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/bench/pgbench"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/world"
)

// workbench is everything that runs: stores, the processes of a site, receivers.
type workbench struct {
	*site      // the running site
	sites      []*site
	dir        string
	services   *backing.Services
	http       *world.Node    // the first of https
	dispatcher *world.Node    // the first of dispatchers
	processes  processes      // that serve the running site
	api        *client        // of all https
	receiver   *procs.Process // sink is its base URL, and sinkOf gives its other addresses
	sink       string
	yardstick  *pgbench.Database   // nil until a step needs it
	settings   map[string][]string // further settings of http and of dispatcher
	partners   int                 // so far
	ends       []func() error      // of all that was started, the last first
}

// testPartner is a partner with a linked account and an API key.
type testPartner struct {
	world.Partner
	subscriptions []id.ID
}

// open starts everything. close ends also a part.
func (w *workbench) open(ctx context.Context, o options) {
	w.dir = must(os.MkdirTemp("", "bench"))
	w.services = must(backing.Start(ctx, backing.Options{Private: true, RedisAOF: true}))
	w.ends = append(w.ends, func() error { return os.RemoveAll(w.dir) }, w.services.Close)
	if w.services.Postgres.Pid() == 0 || w.services.Redis.Pid() == 0 {
		check(errors.New("the CPU of servers in containers cannot be counted: set TEST_SERVICES=native"))
	}
	w.tune(ctx, o.postgres)
	w.openSites(ctx, o)
	w.receiver, w.sink = startSelf(ctx, "receiver", "/count")
	w.ends = append(w.ends, func() error { w.receiver.Kill(); return nil }, w.leave)
	w.enter(ctx, w.last())
}

// last is the newest version, or the fullest database.
func (w *workbench) last() *site { return w.sites[len(w.sites)-1] }

// processes that serve a site.
type processes struct{ https, dispatchers []*world.Node }

// enter ends the processes of the running site and starts those of s. Every measurement begins with new processes and
// an empty Redis: with a peak of memory of their own, and without memory of the last measurement.
func (w *workbench) enter(ctx context.Context, s *site) { w.enterWith(ctx, s, 1, 1) }

// enterWith is enter with so many processes.
func (w *workbench) enterWith(ctx context.Context, s *site, https, dispatchers int) {
	check(w.leave())
	w.site = s
	check(s.redis.FlushDB(ctx).Err())
	var bases []string
	for range https {
		n := w.node("http")
		check(n.Start(ctx))
		w.processes.https, bases = append(w.processes.https, n), append(bases, n.Base)
	}
	w.http, w.api = w.processes.https[0], newClient(bases...)
	for range dispatchers {
		n := w.node("dispatcher", "API_BASE_URL="+w.http.Base, "DASHBOARD_BASE_URL="+w.http.Base)
		check(n.Start(ctx))
		w.processes.dispatchers = append(w.processes.dispatchers, n)
	}
	w.dispatcher = w.processes.dispatchers[0]
}

func (w *workbench) node(name string, settings ...string) *world.Node {
	n := must(world.NewNode(name, filepath.Join(w.binaries, name)))
	n.Env = slices.Concat(os.Environ(), []string{
		"DATABASE_URL=" + w.postgresURL, "REDIS_URL=" + w.redisURL, "LOG_LEVEL=warn",
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true", "RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}, n.Env, settings, w.settings[name])
	return n
}

// leave ends the processes of the running site.
func (w *workbench) leave() error {
	var errs []error
	for _, n := range slices.Concat(w.processes.dispatchers, w.processes.https) {
		if n.Process() != nil && n.Process().Running() {
			errs = append(errs, n.Process().Stop(40*time.Second))
		}
	}
	w.processes = processes{}
	return errors.Join(errs...)
}

// startSelf starts this program in another role and gives its base URL.
func startSelf(ctx context.Context, role, ready string) (p *procs.Process, base string) {
	address := "127.0.0.1:" + strconv.Itoa(must(backing.FreePort()))
	p = must(
		procs.Start(procs.Spec{Name: role, Path: must(os.Executable()), Args: []string{role, address}, Env: os.Environ()}))
	ctx, cancel := context.WithTimeout(ctx, world.StartLimit)
	defer cancel()
	base = "http://" + address
	check(p.AwaitOK(ctx, base+ready))
	return p, base
}

func (w *workbench) close() {
	for _, end := range slices.Backward(w.ends) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: stop:", err)
		}
	}
}

// newPartners seeds the partners of a variant. Every partner has an address of its own for its subscriptions, as
// receivers have.
func (w *workbench) newPartners(ctx context.Context, v variant) (all []testPartner) {
	for i := range v.partners {
		all = append(all, w.newPartner(ctx, w.subscriptionURLs(v, i)...))
	}
	return all
}

// subscriptionURLs are the addresses of the i-th partner's subscriptions.
func (w *workbench) subscriptionURLs(v variant, i int) []string {
	if i < v.hanging {
		return []string{w.sinkOf(i) + "/hang"}
	}
	urls := make([]string, v.subscriptions)
	for j := range urls {
		urls[j] = fmt.Sprintf("%s/%d", w.sinkOf(i), j)
	}
	return urls
}

// webhookSecret is the secret of all subscriptions, so that the receiver verifies deliveries without a look-up.
const webhookSecret = "svc_whsec_bench"

// newPartner seeds a partner with an account and a subscription to each URL.
func (w *workbench) newPartner(ctx context.Context, urls ...string) testPartner {
	w.partners++
	t := testPartner{Partner: must(w.NewPartner(ctx, "bench-"+strconv.Itoa(w.partners)))}
	for _, url := range urls {
		subscription, _, err := w.Subscribe(ctx, t.Partner, url, webhook.EventNames, webhookSecret)
		check(err)
		t.subscriptions = append(t.subscriptions, subscription)
	}
	return t
}

// unsubscribe deletes the subscriptions, so that their open deliveries do not disturb later measurements.
func (w *workbench) unsubscribe(ctx context.Context, all []testPartner) {
	check(w.Store.WithinTx(ctx, func(ctx context.Context) (err error) {
		for _, t := range all {
			for _, s := range t.subscriptions {
				err = errors.Join(err, w.Store.Subscriptions.Delete(ctx, s, system.Clock{}.Now()))
			}
		}
		return err
	}))
}

// site is an installation of the service: binaries, and databases of its own on the servers that all sites share. Only
// one site runs at a time, so that the other sites cost nothing while one is measured.
type site struct {
	*world.Database
	name     string // "" if there is a single site
	binaries string // directory of http and dispatcher

	postgresURL, redisURL string
	redis                 *redis.Client
	owners                []stock.Owner // of the rows that were stored beforehand
}

// migrate uses the admin among the binaries, so that each version runs on its own schema; without one, the migrations
// of this version apply.
func (s *site) migrate(ctx context.Context) error {
	admin := filepath.Join(s.binaries, "admin")
	if _, err := os.Stat(admin); err != nil {
		_, err := migrations.Up(ctx, s.postgresURL, nil)
		return err
	}
	env := append(os.Environ(), "DATABASE_URL="+s.postgresURL, "REDIS_URL="+s.redisURL)
	_, err := procs.Must(ctx, procs.Spec{Name: "admin", Path: admin, Args: []string{"migrate", "up"}, Env: env})
	return err
}

// openSites makes the sites of a run: a base and a new version, or this version on an empty and on a full database, or
// this version alone.
func (w *workbench) openSites(ctx context.Context, o options) {
	type plan struct {
		name, binaries string
		stock          int
	}
	plans := []plan{{"base", o.base, o.stock}, {"new", o.fresh, o.stock}}
	if o.base == "" {
		check(procs.Build{}.Into(ctx, w.dir+string(filepath.Separator), "cmd/http", "cmd/dispatcher"))
		plans = []plan{{"empty", w.dir, 0}, {"stocked", w.dir, o.stock}}
		if o.stock == 0 {
			plans = []plan{{"", w.dir, 0}}
		}
	}
	for i, p := range plans {
		s := &site{name: p.name, binaries: p.binaries}
		s.postgresURL = must(world.Create(ctx, w.services.PostgresURL, "bench"+strconv.Itoa(i), ""))
		s.redisURL = strings.TrimSuffix(w.services.RedisURL, "/0") + "/" + strconv.Itoa(i)
		s.redis = redis.NewClient(must(redis.ParseURL(s.redisURL)))
		if err := s.migrate(ctx); err != nil {
			check(fmt.Errorf("migrate %s: %w", s.name, err))
		}
		s.Database = must(world.Open(ctx, s.postgresURL, 4))
		w.ends = append(w.ends, func() error { s.Close(context.Background()); return s.redis.Close() })
		w.sites = append(w.sites, s)
		s.fill(ctx, p.stock, slices.Contains(o.only, "lists"))
	}
}

// fill stores n deposits and n deliveries of a partner with ten accounts. The newest tenth of the deliveries have an
// event beside them. With lists, all of them do, and the partner has n clients and n/30 revoked API keys.
func (s *site) fill(ctx context.Context, n int, lists bool) {
	if n == 0 {
		return
	}
	const accounts = 10
	amount := stock.Amount{Deposits: n, Deliveries: n, Events: n / 10}
	if lists { // a quarter of the deposits have a client of their own
		amount.Events, amount.Clients, amount.Keys = n, n-n/4, n/30
	}
	s.owners = must(stock.Owners(ctx, s.Pool, 1, accounts))
	began := time.Now()
	check(stock.Fill(ctx, s.Pool, s.owners, amount))
	fmt.Printf("%s: stored %d deposits and %d deliveries in %.0f s\n", s.name, n, n, time.Since(began).Seconds())
}

// tune changes settings of Postgres, given as name=value, comma-separated, and restarts the server.
func (w *workbench) tune(ctx context.Context, settings string) {
	if settings == "" {
		return
	}
	conn := must(pgx.Connect(ctx, w.services.PostgresURL))
	var err error
	for _, s := range list(settings) {
		name, value, _ := strings.Cut(s, "=")
		_, failed := conn.Exec(ctx,
			"ALTER SYSTEM SET "+pgx.Identifier{name}.Sanitize()+" = '"+strings.ReplaceAll(value, "'", "''")+"'")
		err = errors.Join(err, failed)
	}
	check(errors.Join(err, conn.Close(ctx)))
	fmt.Println("Postgres with", settings)
	check(w.services.Postgres.Restart(ctx))
}
