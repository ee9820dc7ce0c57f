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
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/bench/pgbench"
	"partnerdeposits/lab/procs"
	"partnerdeposits/ports"
)

// world is everything that runs: stores, the processes of a site, receivers.
type world struct {
	*site      // the running site
	sites      []*site
	dir        string
	services   *backing.Services
	http       *procs.Process
	dispatcher *procs.Process
	receiver   *procs.Process
	neighbours *procs.Process    // with the hostile step only
	api        string            // base URL
	sink       string            // base URL of the receiver; sinkOf gives its other addresses
	yardstick  *pgbench.Database // nil until a step needs it
	extra      []string          // settings of http beside those of every process
	provider   []string          // settings of a payment provider, of http and dispatcher
	authority  string            // file with the only certificate that the dispatcher trusts; "": the system's certificates
}

// testPartner is a partner with a linked account and an API key.
type testPartner struct {
	partner, account id.ID
	subscriptions    []id.ID
	key              string
}

func newWorld(ctx context.Context, o options) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return w, err
	}
	if w.services, err = backing.Start(ctx, backing.Options{Private: true, RedisAOF: true}); err != nil {
		return w, err
	}
	if w.services.Postgres.Pid() == 0 || w.services.Redis.Pid() == 0 {
		return w, errors.New("the CPU of servers in containers cannot be counted: set TEST_SERVICES=native")
	}
	if err := w.tune(ctx, o.postgres); err != nil {
		return w, err
	}
	if err := w.openSites(ctx, o); err != nil {
		return w, err
	}
	if err := w.startReceiver(ctx); err != nil {
		return w, err
	}
	return w, w.enter(ctx, w.sites[len(w.sites)-1])
}

func (w *world) environment(extra ...string) []string {
	return append(os.Environ(), append([]string{
		"DATABASE_URL=" + w.postgresURL, "REDIS_URL=" + w.redisURL, "LOG_LEVEL=warn",
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true", "RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}, append(slices.Clone(w.provider), extra...)...)...)
}

// start runs a process on n free ports and waits until the URL ready answers. spec makes the arguments and the
// environment from the ports.
func (w *world) start(ctx context.Context, n int, spec func(ports []string) (s procs.Spec, ready string)) (*procs.Process, error) {
	ports := make([]string, n)
	for i := range ports {
		port, err := backing.FreePort()
		if err != nil {
			return nil, err
		}
		ports[i] = strconv.Itoa(port)
	}
	s, ready := spec(ports)
	p, err := procs.Start(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return p, p.AwaitOK(ctx, ready)
}

const (
	startLimit = 30 * time.Second
	grace      = 40 * time.Second
)

func (w *world) startReceiver(ctx context.Context) (err error) {
	w.receiver, w.sink, err = w.startSelf(ctx, "receiver", "/count")
	return err
}

// startSelf starts this program in another role and gives its base URL.
func (w *world) startSelf(ctx context.Context, role, ready string) (p *procs.Process, base string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p, err = w.start(ctx, 1, func(ports []string) (procs.Spec, string) {
		address := "127.0.0.1:" + ports[0]
		base = "http://" + address
		return procs.Spec{Name: role, Path: self, Args: []string{role, address}, Env: os.Environ()}, base + ready
	})
	return p, base, err
}

func (w *world) startHTTP(ctx context.Context) (err error) {
	w.http, err = w.start(ctx, 2, func(ports []string) (procs.Spec, string) {
		w.api = "http://127.0.0.1:" + ports[0]
		env := w.environment("HTTP_ADDR=127.0.0.1:"+ports[0], "METRICS_ADDR=127.0.0.1:"+ports[1], "API_BASE_URL="+w.api, "DASHBOARD_BASE_URL="+w.api)
		env = append(env, w.extra...)
		return procs.Spec{Name: "http", Path: filepath.Join(w.binaries, "http"), Env: env}, "http://127.0.0.1:" + ports[1] + "/readyz"
	})
	return err
}

func (w *world) startDispatcher(ctx context.Context) (err error) {
	w.dispatcher, err = w.start(ctx, 1, func(ports []string) (procs.Spec, string) {
		env := w.environment("METRICS_ADDR=127.0.0.1:"+ports[0], "API_BASE_URL="+w.api, "DASHBOARD_BASE_URL="+w.api)
		if w.authority != "" {
			env = append(env, "SSL_CERT_FILE="+w.authority)
		}
		return procs.Spec{Name: "dispatcher", Path: filepath.Join(w.binaries, "dispatcher"), Env: env}, "http://127.0.0.1:" + ports[0] + "/readyz"
	})
	return err
}

func (w *world) close() {
	if err := w.leave(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: stop:", err)
	}
	for _, p := range []*procs.Process{w.receiver, w.neighbours} {
		if p != nil {
			p.Kill()
		}
	}
	for _, s := range w.sites {
		s.close(context.Background())
	}
	if w.services != nil {
		if err := w.services.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: stop:", err)
		}
	}
	_ = os.RemoveAll(w.dir)
}

// newPartners seeds the partners of a variant. Every partner has an address of its own for its subscriptions, as receivers
// have.
func (w *world) newPartners(ctx context.Context, v variant) (all []testPartner, err error) {
	for i := range v.partners {
		t, err := w.newPartner(ctx, w.subscriptionURLs(v, i)...)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// webhookSecret is the secret of all subscriptions, so that the receiver verifies deliveries without a look-up.
const webhookSecret = "svc_whsec_bench"

// newPartner seeds a partner with an account and a subscription to each URL.
func (w *world) newPartner(ctx context.Context, urls ...string) (testPartner, error) {
	now, entropy := system.Clock{}.Now(), system.Entropy{}
	t := testPartner{partner: entropy.NewID(), account: entropy.NewID()}
	operator := connect.Operator{ID: entropy.NewID(), PasswordHash: "-", CreatedAt: now}
	operator.Email = operator.ID.Encode() + "@example.com"
	apiKey, plain, hash := partner.NewAPIKey(entropy.NewID(), t.partner, partner.Development, "bench", entropy.Bytes(secret.Bytes), now)
	t.key = plain.Reveal()
	err := w.store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		err := errors.Join(
			r.Partners.Insert(ctx, partner.Partner{ID: t.partner, Slug: "b-" + t.partner.Encode(), Name: "Bench", CreatedAt: now}, "svc_cs_bench"),
			r.Partners.InsertKey(ctx, apiKey, hash),
			r.Operators.Insert(ctx, operator, connect.Account{ID: t.account, OperatorID: operator.ID, CompanyName: "Bench", CreatedAt: now}),
			r.Links.Insert(ctx, connect.Link{ID: entropy.NewID(), PartnerID: t.partner, AccountID: t.account, ExternalID: "bench", LinkedAt: now}),
		)
		for _, url := range urls {
			sub := webhook.Subscription{ID: entropy.NewID(), PartnerID: t.partner, URL: url, Events: webhook.EventNames, Enabled: true, CreatedAt: now}
			t.subscriptions = append(t.subscriptions, sub.ID)
			err = errors.Join(err, r.Subscriptions.Insert(ctx, sub, webhookSecret))
		}
		return err
	})
	return t, err
}

// unsubscribe deletes the subscriptions, so that their open deliveries do not disturb later measurements.
func (w *world) unsubscribe(ctx context.Context, all []testPartner) error {
	return w.store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		for _, t := range all {
			for _, s := range t.subscriptions {
				if err := r.Subscriptions.Delete(ctx, s, system.Clock{}.Now()); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
