package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/cmd/config"
	"partnerdeposits/cmd/wire"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/stock"
)

// site is an installation of the service: binaries, and databases of its own on the servers that all sites share. Only
// one site runs at a time, so that the other sites cost nothing while one is measured.
type site struct {
	name     string // "" if there is a single site
	binaries string // directory of http and dispatcher

	postgresURL, redisURL string
	pool                  *pgxpool.Pool
	store                 *postgres.Store
	redis                 *redis.Client
	owners                []stock.Owner // of the rows that were stored beforehand
}

// newSite makes the databases of the n-th site. A directory of binaries with an admin in it migrates with that admin, so
// that each version runs on its own schema; otherwise the migrations of this version apply.
func (w *world) newSite(ctx context.Context, name, binaries string, n int) (s *site, err error) {
	s = &site{name: name, binaries: binaries}
	if s.postgresURL, err = createDatabase(ctx, w.services.PostgresURL, "bench"+strconv.Itoa(n)); err != nil {
		return nil, err
	}
	s.redisURL = redisDatabase(w.services.RedisURL, n)
	options, err := redis.ParseURL(s.redisURL)
	if err != nil {
		return nil, err
	}
	s.redis = redis.NewClient(options)
	if err := s.migrate(ctx); err != nil {
		return nil, fmt.Errorf("migrate %s: %w", name, err)
	}
	cfg := config.Config{Environment: partner.Development, DatabaseURL: secret.Text(s.postgresURL)}
	stores, err := wire.OpenStore(ctx, cfg, slog.New(slog.DiscardHandler), postgres.PoolOptions{MaxConns: 4, StatementTimeout: 10 * time.Minute})
	if err != nil {
		return nil, err
	}
	s.pool, s.store = stores.Pool, stores.Postgres
	return s, nil
}

func (s *site) migrate(ctx context.Context) error {
	admin := filepath.Join(s.binaries, "admin")
	if _, err := os.Stat(admin); err != nil {
		_, err := migrations.Up(ctx, s.postgresURL, nil)
		return err
	}
	cmd := exec.CommandContext(ctx, admin, "migrate", "up") //nolint:gosec // a binary of this repository, named on the command line
	cmd.Env = append(os.Environ(), "DATABASE_URL="+s.postgresURL, "REDIS_URL="+s.redisURL)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

func (s *site) close(ctx context.Context) {
	if s.store != nil {
		s.store.Close(ctx)
	}
	if s.pool != nil {
		s.pool.Close()
	}
	_ = s.redis.Close()
}

// createDatabase makes a database on a server and gives its URL.
func createDatabase(ctx context.Context, server, name string) (string, error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return "", err
	}
	parsed, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	parsed.Path = "/" + name
	return parsed.String(), nil
}

func redisDatabase(server string, n int) string {
	return strings.TrimSuffix(server, "/0") + "/" + strconv.Itoa(n)
}

// openSites makes the sites of a run: a base and a new version, or this version on an empty and on a full database, or this
// version alone.
func (w *world) openSites(ctx context.Context, o options) error {
	type plan struct {
		name, binaries string
		stock          int
	}
	plans := []plan{{"base", o.base, o.stock}, {"new", o.fresh, o.stock}}
	if o.base == "" {
		if err := (procs.Build{}).Into(ctx, w.dir+string(filepath.Separator), "cmd/http", "cmd/dispatcher"); err != nil {
			return err
		}
		plans = []plan{{"empty", w.dir, 0}, {"stocked", w.dir, o.stock}}
		if o.stock == 0 {
			plans = []plan{{"", w.dir, 0}}
		}
	}
	for i, p := range plans {
		s, err := w.newSite(ctx, p.name, p.binaries, i)
		if err != nil {
			return err
		}
		w.sites = append(w.sites, s)
		if err := s.fill(ctx, p.stock, slices.Contains(o.only, "lists")); err != nil {
			return err
		}
	}
	return nil
}

// fill stores n deposits and n deliveries of a partner with ten accounts. The newest tenth of the deliveries have an event beside
// them. With lists, all of them do, and the partner has n clients and n/30 revoked API keys.
func (s *site) fill(ctx context.Context, n int, lists bool) (err error) {
	if n == 0 {
		return nil
	}
	const accounts = 10
	amount := stock.Amount{Deposits: n, Deliveries: n, Events: n / 10}
	if lists { // a quarter of the deposits have a client of their own
		amount.Events, amount.Clients, amount.Keys = n, n-n/4, n/30
	}
	if s.owners, err = stock.Owners(ctx, s.pool, 1, accounts); err != nil {
		return err
	}
	began := time.Now()
	err = stock.Fill(ctx, s.pool, s.owners, amount)
	fmt.Printf("%s: stored %d deposits and %d deliveries in %.0f s\n", s.name, n, n, time.Since(began).Seconds())
	return err
}

// tune changes settings of Postgres, given as name=value, comma-separated, and restarts the server.
func (w *world) tune(ctx context.Context, settings string) error {
	if settings == "" {
		return nil
	}
	conn, err := pgx.Connect(ctx, w.services.PostgresURL)
	if err != nil {
		return err
	}
	for _, s := range list(settings) {
		name, value, _ := strings.Cut(s, "=")
		_, err = conn.Exec(ctx, "ALTER SYSTEM SET "+pgx.Identifier{name}.Sanitize()+" = '"+strings.ReplaceAll(value, "'", "''")+"'")
		if err != nil {
			break
		}
	}
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	fmt.Println("Postgres with", settings)
	return w.services.Postgres.Restart(ctx)
}

// enter ends the processes of the running site and starts those of s. Every measurement begins with new processes and an
// empty Redis: with a peak of memory of their own, and without memory of the last measurement.
func (w *world) enter(ctx context.Context, s *site) error {
	if err := w.leave(); err != nil {
		return err
	}
	w.site = s
	if err := s.redis.FlushDB(ctx).Err(); err != nil {
		return err
	}
	if err := w.startHTTP(ctx); err != nil {
		return err
	}
	return w.startDispatcher(ctx)
}

// leave ends the processes of the running site.
func (w *world) leave() error {
	var errs []error
	for _, p := range []*procs.Process{w.dispatcher, w.http} {
		if p != nil && p.Running() {
			errs = append(errs, p.Stop(grace))
		}
	}
	return errors.Join(errs...)
}
