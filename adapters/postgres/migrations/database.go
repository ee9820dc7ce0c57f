package migrations

import (
	"context"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
)

// migrator applies the migrations in files to the database.
type migrator struct {
	patience
	files       fs.FS
	databaseURL string
	waits       func(error)
}

// querier is a connection or a pool on which a query for a row can be run.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// patience bounds how long a migration waits for locks. While ALTER TABLE waits for a lock, every request that
// needs the table waits behind it. So a migration waits only for moments, and requests can run between two tries.
type patience struct {
	lockTimeout time.Duration // The longest wait of a single statement of a migration for a lock.
	pause       time.Duration // The pause between two tries of a migration that did not get a lock.
	giveUpAfter time.Duration
}
