package migrations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// ErrLocked is the error of a migration that could not get a lock on a table in time, because other sessions
// held it.
var ErrLocked = errors.New(
	"migrations: another session keeps a lock that the migration needs; find it in pg_stat_activity (a long transaction, " +
		"or a query that runs for minutes), end it, and run the migration again")

// lockNotAvailable is the SQLSTATE of a statement that lock_timeout has cancelled.
const lockNotAvailable = "55P03"

// cancelPatience is the time within which the server may end a cancelled statement before the connection is closed.
const cancelPatience = 5 * time.Second

var defaultPatience = patience{lockTimeout: 500 * time.Millisecond, pause: 2 * time.Second,
	giveUpAfter: 10 * time.Minute}

// up applies all migrations. Waits for locks are bounded only in a transaction: others, such as CREATE INDEX
// CONCURRENTLY, wait for old transactions by design.
func (m migrator) up(ctx context.Context) error {
	if err := m.fits(ctx); err != nil {
		return err
	}
	for _, step := range steps(versions(m.files)) {
		timeout := m.lockTimeout
		if step.concurrent {
			timeout = 0
		}
		if err := m.upTo(ctx, step.number, timeout); err != nil {
			return err
		}
	}
	return nil
}

func (m migrator) upTo(ctx context.Context, number int64, lockTimeout time.Duration) error {
	// When the migration gives up waiting for a lock; set when a lock is first refused.
	var end time.Time
	for {
		err := m.with(lockTimeout, func(p *goose.Provider) error {
			_, err := p.UpTo(ctx, number)
			return err
		})
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != lockNotAvailable {
			return err
		}
		switch now := time.Now(); {
		case end.IsZero():
			end = now.Add(m.giveUpAfter)
		case now.After(end):
			return fmt.Errorf("%w (%w)", ErrLocked, err)
		}
		m.waits(err)
		pause := time.NewTimer(m.pause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("%w (%w)", ErrLocked, err)
		case <-pause.C:
		}
	}
}

// with runs fn with a goose provider whose statements wait for locks up to lockTimeout; 0 means without limit.
// The role's time limits are switched off.
func (m migrator) with(lockTimeout time.Duration, fn func(*goose.Provider) error) (err error) {
	config, err := pgx.ParseConfig(m.databaseURL)
	if err != nil {
		return err
	}
	config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	config.RuntimeParams["statement_timeout"] = "0"
	// Without a cancel request, an interrupted CREATE INDEX CONCURRENTLY would run on in the server, and the next run
	// would wait for it.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelPatience}
	}
	db := stdlib.OpenDB(*config)
	defer func() { err = firstOf(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, m.files, goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	return fn(provider)
}

type version struct {
	number     int64
	name       string
	concurrent bool // Whether the migration runs outside a transaction.
}

// versions returns the migrations in the order of their file names.
func versions(files fs.FS) (all []version) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		panic("migrations: none embedded")
	}
	for _, name := range names {
		v := version{name: name}
		_, err := fmt.Sscanf(name, "%d_", &v.number)
		text, readErr := fs.ReadFile(files, name)
		if err := errors.Join(err, readErr); err != nil {
			panic("migrations: " + err.Error())
		}
		v.concurrent = bytes.Contains(text, []byte("+goose NO TRANSACTION"))
		all = append(all, v)
	}
	return all
}

// steps returns the last version of each run of migrations of the same kind (inside or outside a transaction).
func steps(all []version) (last []version) {
	for i, v := range all {
		if i > 0 && v.concurrent == all[i-1].concurrent {
			last[len(last)-1] = v
		} else {
			last = append(last, v)
		}
	}
	return last
}
