package migrations

import (
	"context"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
)

type migrator struct {
	patience
	files       fs.FS
	databaseURL string
	waits       func(error)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// patience bounds how long a migration waits for locks: while ALTER TABLE waits, every request to the table
// waits behind it.
type patience struct {
	lockTimeout time.Duration // The longest wait of a single statement of a migration for a lock.
	pause       time.Duration // The pause between two tries of a migration that did not get a lock.
	giveUpAfter time.Duration
}
