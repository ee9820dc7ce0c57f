// Package migrations holds the schema. Only `admin migrate up`, the sandbox and the tests migrate a database; http and
// dispatcher wait until the schema is new enough (operations.md, "Processes").
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed *.sql
var files embed.FS

// Status tells whether a migration is applied.
type Status struct {
	Version int64
	Name    string
	Applied bool
}

// Up migrates the schema to the newest version. Any number of processes may call Up at the same time: a session lock lets
// the first migrate, and the others then find no migration left.
func Up(ctx context.Context, databaseURL string) error {
	return with(databaseURL, func(p *goose.Provider) error {
		_, err := p.Up(ctx)
		return err
	})
}

// List returns all migrations, with their status.
func List(ctx context.Context, databaseURL string) ([]Status, error) {
	var out []Status
	err := with(databaseURL, func(p *goose.Provider) error {
		all, err := p.Status(ctx)
		for _, s := range all {
			out = append(out, Status{Version: s.Source.Version, Name: s.Source.Path, Applied: s.State == goose.StateApplied})
		}
		return err
	})
	return out, err
}

// Newest is the newest version in this binary.
func Newest() int64 {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		panic("migrations: none embedded")
	}
	var v int64
	if _, err := fmt.Sscanf(names[len(names)-1], "%d_", &v); err != nil {
		panic("migrations: " + err.Error())
	}
	return v
}

// Version reads the newest applied version from the database; 0 for a database without a schema.
func Version(ctx context.Context, conn interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (int64, error) {
	var there bool
	if err := conn.QueryRow(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, err
	}
	var v int64
	err := conn.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&v)
	return v, err
}

func with(databaseURL string, fn func(*goose.Provider) error) (err error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer func() { err = firstOf(err, db.Close()) }()
	provider, err := provider(db)
	if err != nil {
		return err
	}
	return fn(provider)
}

func provider(db *sql.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
