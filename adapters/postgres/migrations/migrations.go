// Package migrations holds the migrations of the database schema and applies them. Only `admin migrate up`, the
// sandbox and the tests migrate a database; http and dispatcher wait for a schema that is new enough
// (operations.md, "Processes").
package migrations

import (
	"context"
	"embed"
	"errors"

	"github.com/pressly/goose/v3"
)

//go:embed *.sql
var files embed.FS

type Status struct {
	Version int64
	Name    string
	Applied bool
}

// Up migrates the database to the newest version; several processes may call it at once. waits is called before
// each pause for a lock; nil means no call. Returns ErrUnsuitableDatabase, before any migration, or ErrLocked.
func Up(ctx context.Context, databaseURL string, waits func(error)) (version int64, err error) {
	if waits == nil {
		waits = func(error) {}
	}
	m := migrator{files: files, databaseURL: databaseURL, patience: defaultPatience, waits: waits}
	if err := m.up(ctx); err != nil {
		return 0, err
	}
	err = m.with(0, func(p *goose.Provider) error {
		version, err = p.GetDBVersion(ctx)
		return err
	})
	return version, err
}

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

func NewestVersion() int64 {
	all := versions(files)
	return all[len(all)-1].number
}

// ErrPermissionDenied is the error for a database role that has no right to read the version of the schema.
var ErrPermissionDenied = errors.New("migrations: the role may not read the version of the schema: permission denied")

// AppliedVersion returns the newest applied migration; 0 without a schema. Returns ErrPermissionDenied for
// missing rights.
func AppliedVersion(ctx context.Context, conn querier) (v int64, err error) {
	var there, readable bool
	err = conn.QueryRow(ctx, `SELECT t IS NOT NULL, coalesce(has_table_privilege(t, 'SELECT'), u, true)
		FROM to_regclass('goose_db_version') t, has_schema_privilege(to_regnamespace('public'), 'USAGE') u`).Scan(&there,
		&readable)
	switch {
	case err != nil:
		return 0, err
	case !readable:
		return 0, ErrPermissionDenied
	case !there:
		return 0, nil
	}
	err = conn.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&v)
	return v, err
}

func with(databaseURL string, fn func(*goose.Provider) error) error {
	return migrator{files: files, databaseURL: databaseURL}.with(0, fn)
}
