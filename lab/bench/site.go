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
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/world"
)

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

// newSite makes the databases of the n-th site. A directory of binaries with an admin in it migrates with that admin, so
// that each version runs on its own schema; otherwise the migrations of this version apply.
func (w *workbench) newSite(ctx context.Context, name, binaries string, n int) *site {
	s := &site{name: name, binaries: binaries}
	s.postgresURL = must(world.Create(ctx, w.services.PostgresURL, "bench"+strconv.Itoa(n), ""))
	s.redisURL = strings.TrimSuffix(w.services.RedisURL, "/0") + "/" + strconv.Itoa(n)
	s.redis = redis.NewClient(must(redis.ParseURL(s.redisURL)))
	if err := s.migrate(ctx); err != nil {
		check(fmt.Errorf("migrate %s: %w", name, err))
	}
	s.Database = must(world.Open(ctx, s.postgresURL, 4))
	return s
}

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

// openSites makes the sites of a run: a base and a new version, or this version on an empty and on a full database, or this
// version alone.
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
		s := w.newSite(ctx, p.name, p.binaries, i)
		w.sites = append(w.sites, s)
		s.fill(ctx, p.stock, slices.Contains(o.only, "lists"))
	}
}

// fill stores n deposits and n deliveries of a partner with ten accounts. The newest tenth of the deliveries have an event
// beside them. With lists, all of them do, and the partner has n clients and n/30 revoked API keys.
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
		_, failed := conn.Exec(ctx, "ALTER SYSTEM SET "+pgx.Identifier{name}.Sanitize()+" = '"+strings.ReplaceAll(value, "'", "''")+"'")
		err = errors.Join(err, failed)
	}
	check(errors.Join(err, conn.Close(ctx)))
	fmt.Println("Postgres with", settings)
	check(w.services.Postgres.Restart(ctx))
}
