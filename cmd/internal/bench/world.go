package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/backing"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// world is all that runs: stores, processes, receiver.
type world struct {
	dir        string
	services   *backing.Services
	pool       *pgxpool.Pool
	store      *postgres.Store
	http       *process
	dispatcher *process
	receiver   *process
	api, sink  string // base URLs
}

// tenancy is a partner with a linked account and a key.
type tenancy struct {
	partner, account id.ID
	key              string
}

type process struct {
	cmd *exec.Cmd
	log bytes.Buffer
}

func newWorld(ctx context.Context) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return w, err
	}
	if err := build(ctx, w.dir); err != nil {
		return w, err
	}
	if w.services, err = backing.Start(ctx, backing.Options{Private: true, RedisAOF: true}); err != nil {
		return w, err
	}
	if err := migrations.Up(ctx, w.services.PostgresURL); err != nil {
		return w, err
	}
	if w.pool, err = postgres.NewPool(ctx, w.services.PostgresURL, postgres.PoolOptions{MaxConns: 4, StatementTimeout: 10 * time.Minute}); err != nil {
		return w, err
	}
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	if err != nil {
		return w, err
	}
	w.store = postgres.NewStore(w.pool, cipher, postgres.Options{})
	if err := w.startReceiver(); err != nil {
		return w, err
	}
	if err := w.startHTTP(ctx); err != nil {
		return w, err
	}
	return w, w.startDispatcher(ctx)
}

func build(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir, "partnerdeposits/cmd/http", "partnerdeposits/cmd/dispatcher")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

func (w *world) environment(extra ...string) []string {
	return append(os.Environ(), append([]string{
		"DATABASE_URL=" + w.services.PostgresURL, "REDIS_URL=" + w.services.RedisURL, "LOG_LEVEL=warn",
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true", "RATE_LIMIT_PER_MINUTE=100000000", "RATE_LIMIT_WRITES_PER_MINUTE=100000000",
	}, extra...)...)
}

func (w *world) start(name string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...)} //nolint:gosec,noctx // our own binaries, ended by close
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p, p.cmd.Start()
}

func (w *world) startReceiver() (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	port := freePort()
	w.sink = "http://127.0.0.1:" + port
	if w.receiver, err = w.start(self, os.Environ(), "receiver", "127.0.0.1:"+port); err != nil {
		return err
	}
	return await(w.sink+"/count", w.receiver)
}

func (w *world) startHTTP(ctx context.Context) (err error) {
	port, metrics := freePort(), freePort()
	w.api = "http://127.0.0.1:" + port
	env := w.environment("HTTP_ADDR=127.0.0.1:"+port, "METRICS_ADDR=127.0.0.1:"+metrics, "API_BASE_URL="+w.api, "DASHBOARD_BASE_URL="+w.api)
	if w.http, err = w.start(filepath.Join(w.dir, "http"), env); err != nil {
		return err
	}
	return await("http://127.0.0.1:"+metrics+"/readyz", w.http)
}

func (w *world) startDispatcher(ctx context.Context) (err error) {
	metrics := freePort()
	env := w.environment("METRICS_ADDR=127.0.0.1:"+metrics, "API_BASE_URL="+w.api, "DASHBOARD_BASE_URL="+w.api)
	if w.dispatcher, err = w.start(filepath.Join(w.dir, "dispatcher"), env); err != nil {
		return err
	}
	return await("http://127.0.0.1:"+metrics+"/readyz", w.dispatcher)
}

// stop ends a process gently.
func (p *process) stop() error {
	if p == nil || p.cmd.Process == nil {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.cmd.Wait()
}

func (w *world) close() {
	for _, p := range []*process{w.dispatcher, w.http, w.receiver} {
		if err := p.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: stop:", err)
		}
	}
	if w.store != nil {
		w.store.Close(context.Background())
	}
	if w.pool != nil {
		w.pool.Close()
	}
	if w.services != nil {
		if err := w.services.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: stop:", err)
		}
	}
	_ = os.RemoveAll(w.dir)
}

// await polls url until it answers 200.
func await(url string, p *process) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for range 600 {
		<-ticker.C
		response, err := http.Get(url) //nolint:forbidigo // loopback, bounded by the loop
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("%s does not answer:\n%s", url, p.log.String())
}

func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// newTenancy seeds a partner with an account and one subscription to path of the receiver.
func (w *world) newTenancy(ctx context.Context, path string) (tenancy, error) {
	now, entropy := system.Clock{}.Now(), system.Entropy{}
	t := tenancy{partner: entropy.NewID(), account: entropy.NewID()}
	operator := connect.Operator{ID: entropy.NewID(), PasswordHash: "-", CreatedAt: now}
	operator.Email = operator.ID.Encode() + "@example.com"
	apiKey, plain, hash := partner.NewAPIKey(entropy.NewID(), t.partner, partner.Development, "bench", entropy.Bytes(secret.Bytes), now)
	t.key = plain.Reveal()
	err := w.store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		sub := webhook.Subscription{ID: entropy.NewID(), PartnerID: t.partner, URL: w.sink + path, Events: webhook.EventNames, Enabled: true, CreatedAt: now}
		return errors.Join(
			r.Partners.Insert(ctx, partner.Partner{ID: t.partner, Slug: "b-" + t.partner.Encode(), Name: "Bench", CreatedAt: now}, "svc_cs_bench"),
			r.Partners.InsertKey(ctx, apiKey, hash),
			r.Operators.Insert(ctx, operator, connect.Account{ID: t.account, OperatorID: operator.ID, CompanyName: "Bench", CreatedAt: now}),
			r.Links.Insert(ctx, connect.Link{ID: entropy.NewID(), PartnerID: t.partner, AccountID: t.account, ExternalID: "bench", LinkedAt: now}),
			r.Subscriptions.Insert(ctx, sub, "svc_whsec_bench"),
		)
	})
	return t, err
}
