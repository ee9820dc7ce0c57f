package migrations

import (
	"context"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
)

// migrator applies the migrations of files.
type migrator struct {
	patience
	files       fs.FS
	databaseURL string
	waits       func(error)
}

// querier is a connection or a pool.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// patience bounds the wait for locks. While ALTER TABLE waits for a lock, every request that needs the table waits
// behind it. So a migration waits for moments only, and lets requests pass between two tries.
type patience struct {
	lockTimeout time.Duration // of a statement
	pause       time.Duration // between two tries
	giveUpAfter time.Duration
}
