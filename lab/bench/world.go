package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/bench/pgbench"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/world"
	"partnerdeposits/ports"
)

// workbench is everything that runs: stores, the processes of a site, receivers.
type workbench struct {
	*site      // the running site
	sites      []*site
	dir        string
	services   *backing.Services
	http       *world.Node
	dispatcher *world.Node
	api        *client        // of http
	receiver   *procs.Process // sink is its base URL, and sinkOf gives its other addresses
	sink       string
	yardstick  *pgbench.Database   // nil until a step needs it
	settings   map[string][]string // further settings of http and of dispatcher
	partners   int                 // so far
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
	if w.services.Postgres.Pid() == 0 || w.services.Redis.Pid() == 0 {
		check(errors.New("the CPU of servers in containers cannot be counted: set TEST_SERVICES=native"))
	}
	w.tune(ctx, o.postgres)
	w.openSites(ctx, o)
	w.receiver, w.sink = startSelf(ctx, "receiver", "/count")
	w.enter(ctx, w.last())
}

// last is the newest version, or the fullest database.
func (w *workbench) last() *site { return w.sites[len(w.sites)-1] }

// enter ends the processes of the running site and starts those of s. Every measurement begins with new processes and an
// empty Redis: with a peak of memory of their own, and without memory of the last measurement.
func (w *workbench) enter(ctx context.Context, s *site) {
	check(w.leave())
	w.site = s
	check(s.redis.FlushDB(ctx).Err())
	w.http = w.node("http")
	check(w.http.Start(ctx))
	w.api = newClient(w.http.Base)
	w.dispatcher = w.node("dispatcher", "API_BASE_URL="+w.http.Base, "DASHBOARD_BASE_URL="+w.http.Base)
	check(w.dispatcher.Start(ctx))
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
	const grace = 40 * time.Second
	var errs []error
	for _, n := range []*world.Node{w.dispatcher, w.http} {
		if n != nil && n.Process() != nil && n.Process().Running() {
			errs = append(errs, n.Process().Stop(grace))
		}
	}
	return errors.Join(errs...)
}

// startSelf starts this program in another role and gives its base URL.
func startSelf(ctx context.Context, role, ready string) (p *procs.Process, base string) {
	address := "127.0.0.1:" + strconv.Itoa(must(backing.FreePort()))
	p = must(procs.Start(procs.Spec{Name: role, Path: must(os.Executable()), Args: []string{role, address}, Env: os.Environ()}))
	ctx, cancel := context.WithTimeout(ctx, world.StartLimit)
	defer cancel()
	base = "http://" + address
	check(p.AwaitOK(ctx, base+ready))
	return p, base
}

func (w *workbench) close() {
	errs := []error{w.leave()}
	if w.receiver != nil {
		w.receiver.Kill()
	}
	for _, s := range w.sites {
		s.Close(context.Background())
		errs = append(errs, s.redis.Close())
	}
	if w.services != nil {
		errs = append(errs, w.services.Close())
	}
	if err := errors.Join(append(errs, os.RemoveAll(w.dir))...); err != nil {
		fmt.Fprintln(os.Stderr, "bench: stop:", err)
	}
}

// newPartners seeds the partners of a variant. Every partner has an address of its own for its subscriptions, as receivers
// have.
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
	check(w.Store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) (err error) {
		for _, t := range all {
			for _, s := range t.subscriptions {
				err = errors.Join(err, r.Subscriptions.Delete(ctx, s, system.Clock{}.Now()))
			}
		}
		return err
	}))
}
