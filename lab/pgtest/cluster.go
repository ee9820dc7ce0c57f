package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/migrations"
)

const (
	// The prefix of test databases' names; the creation time in Unix seconds follows.
	prefix = "pgtest_"
	// leftoverAfter is the age at which a killed run's test database is dropped.
	leftoverAfter = 6 * time.Hour
	// serverEnv and templateEnv name a Postgres server and its migrated template database.
	serverEnv, templateEnv = "TEST_DATABASE_URL", "TEST_DATABASE_TEMPLATE"
	// dayEnv has the day of the tests. Partitions and plans depend on it, so Go's test cache must not reuse results
	// of another day.
	dayEnv = "TEST_DAY"
	// objectInUse is SQLSTATE 55006: another session is connected to the template database.
	objectInUse = "55006"
)

// cluster is a Postgres server with a migrated template database for test databases.
type cluster struct {
	base     *url.URL
	admin    *pgxpool.Pool
	template string
	common   []string // The databases of SharedDatabaseURL on the server.
	// Whether another process has created the template database, and removes it.
	shared bool
}

// newCluster connects to a Postgres server and creates the migrated template database; an empty name gets a new
// one.
func newCluster(ctx context.Context, serverURL, template string) (*cluster, error) {
	base, err := url.Parse(serverURL)
	if err != nil {
		return nil, errors.New("the database URL does not parse")
	}
	config, err := pgxpool.ParseConfig(serverURL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 4
	admin, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	c := &cluster{base: base, admin: admin}
	if serverURL == os.Getenv(serverEnv) {
		c.template = os.Getenv(templateEnv)
		c.shared = c.template != ""
		_ = os.Getenv(dayEnv)
	}
	if err := c.prepare(ctx, template); err != nil {
		return nil, errors.Join(err, c.close(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// prepare drops the leftovers of killed runs, and creates the template database unless another process has
// (StartSharedServer).
func (c *cluster) prepare(ctx context.Context, template string) error {
	if err := c.dropLeftovers(ctx); err != nil {
		return fmt.Errorf("remove old test databases: %w", err)
	}
	if c.shared {
		return nil
	}
	name := cmp.Or(template, c.freshName("template"))
	if _, err := c.admin.Exec(ctx, "CREATE DATABASE "+quoted(name)+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return fmt.Errorf("create the template: %w", err)
	}
	c.template = name
	if _, err := migrations.Up(ctx, c.urlOf(name), nil); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	return nil
}

// dropLeftovers drops the test databases of runs killed hours ago, which only a server named by the environment
// has.
func (c *cluster) dropLeftovers(ctx context.Context) error {
	rows, err := c.admin.Query(ctx, `SELECT datname FROM pg_database WHERE starts_with(datname, $1)`, prefix)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		seconds, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "_")
		born, err := strconv.ParseInt(seconds, 10, 64)
		if err == nil && time.Since(time.Unix(born, 0)) > leftoverAfter {
			if err := c.drop(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// freshName returns a test database's name that is unique among the processes of a server.
func (c *cluster) freshName(kind string) string {
	name := prefix + strconv.FormatInt(time.Now().Unix(), 10) + "_" + strings.ToLower(rand.Text()[:16])
	if kind != "" {
		name += "_" + kind
	}
	return name
}

func (c *cluster) clone(ctx context.Context, name string) error {
	for range 100 {
		_, err := c.admin.Exec(ctx, "CREATE DATABASE "+quoted(name)+" TEMPLATE "+quoted(c.template)+" STRATEGY FILE_COPY")
		var refused *pgconn.PgError
		if err == nil || !errors.As(err, &refused) || refused.Code != objectInUse {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("the template %s stays in use", c.template)
}

func (c *cluster) drop(ctx context.Context, name string) error {
	_, err := c.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name)+" WITH (FORCE)")
	return err
}

func (c *cluster) urlOf(database string) string {
	u := *c.base
	u.Path = "/" + database
	return u.String()
}

// close drops the shared test databases, and the template database if this process created it: a Postgres that the
// environment names keeps running.
func (c *cluster) close(ctx context.Context) (err error) {
	defer c.admin.Close()
	for _, name := range c.common {
		err = errors.Join(err, c.drop(ctx, name))
	}
	if c.template != "" && !c.shared {
		err = errors.Join(err, c.drop(ctx, c.template))
	}
	return err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
