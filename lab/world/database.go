// Package world holds parts of an installation of the service, for tools and tests that act from outside:
// databases, processes, partners and an API client.
package world

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/process/config"
	"partnerdeposits/process/services"
)

// Database is an opened database of the service: a connection pool and a store.
type Database struct {
	Pool  *pgxpool.Pool
	Store *postgres.Store
}

// CreateDatabase creates a Postgres database and returns its URL. An owner other than "" is created as a role that
// may log in.
func CreateDatabase(ctx context.Context, server, name, owner string) (string, error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	statement := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	if owner != "" {
		role := pgx.Identifier{owner}.Sanitize()
		statement += " OWNER " + role
		_, err = conn.Exec(ctx, `DO $$ BEGIN CREATE ROLE `+role+` LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`)
	}
	if err == nil {
		_, err = conn.Exec(ctx, statement)
	}
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return "", err
	}
	return RewriteDatabaseURL(server, owner, "", name), nil
}

// RewriteDatabaseURL returns a Postgres URL with another user, address and database; "" keeps a part.
func RewriteDatabaseURL(server, user, address, database string) string {
	u := parsed(server)
	if user != "" {
		u.User = url.User(user)
	}
	if address != "" {
		u.Host = address
	}
	if database != "" {
		u.Path = "/" + database
	}
	return u.String()
}

func HostPort(server string) string { return parsed(server).Host }

func parsed(server string) *url.URL {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // lab/backing made the URL, so it can be parsed.
	}
	return u
}

// OpenDatabase opens a database of the service with at most conns connections.
func OpenDatabase(ctx context.Context, url string, conns int32) (*Database, error) {
	cfg := config.Config{Environment: partner.EnvironmentDevelopment, DatabaseURL: secret.Text(url)}
	options := postgres.PoolOptions{MaxConns: conns, StatementTimeout: 10 * time.Minute}
	stores, err := services.OpenStore(ctx, cfg, slog.New(slog.DiscardHandler), options)
	if err != nil {
		return nil, err
	}
	return &Database{Pool: stores.Pool, Store: stores.Postgres}, nil
}

// Close closes the connections; on a nil Database it does nothing.
func (d *Database) Close(ctx context.Context) {
	if d != nil {
		d.Store.Close(ctx)
		d.Pool.Close()
	}
}
