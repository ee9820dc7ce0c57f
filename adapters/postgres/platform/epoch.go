package platform

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/platform/internal/sqlc"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

const (
	// The time between two reads of the database's restore epoch.
	epochEvery = 2 * time.Second
	// The time limit of a read of the restore epoch, so short that the next read comes before the last result is
	// too old.
	epochPatience = 2 * time.Second
	// The age above which the last read restore epoch no longer counts.
	epochHolds = 5 * time.Second
)

// ErrDatabaseRestored is the error for a database that was restored from a backup or whose standby was
// promoted.
var ErrDatabaseRestored = errors.New(
	"postgres: the database was restored, or a standby was promoted: run `admin restore-finish`")

// RestoreEpoch keeps the id of a database's history since its last restore from a backup; unknown if not read
// for some seconds.
type RestoreEpoch struct {
	db     pg.DB
	log    *slog.Logger
	known  atomic.Pointer[knownEpoch]
	warned string // The server's history (its id and timeline) that the last warning in the log named.
}

type knownEpoch struct {
	epoch  ports.RestoreEpoch
	readAt time.Time
}

// NewRestoreEpoch makes a RestoreEpoch, which is unknown until Watch runs.
func NewRestoreEpoch(pool *pgxpool.Pool, log *slog.Logger) *RestoreEpoch {
	return &RestoreEpoch{db: pg.DB{Pool: pool, Wait: epochPatience}, log: log}
}

// Current returns the id of the database's history since its last restore, zero while unknown, without a query.
func (e *RestoreEpoch) Current() ports.RestoreEpoch {
	known := e.known.Load()
	if known == nil || time.Since(known.readAt) > epochHolds {
		return ports.RestoreEpoch{}
	}
	return known.epoch
}

// Watch reads the database's restore epoch every two seconds until ctx ends.
func (e *RestoreEpoch) Watch(ctx context.Context) error {
	ticker := time.NewTicker(epochEvery)
	defer ticker.Stop()
	for {
		e.read(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// read reads the database's restore epoch. After an error the previous one stays valid for epochHolds.
func (e *RestoreEpoch) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, epochPatience)
	defer cancel()
	readAt := time.Now()
	row, err := readEpoch(ctx, e.db)
	if err != nil {
		return
	}
	e.known.Store(&knownEpoch{epoch: row.effective(), readAt: readAt})
	if row.restored() && e.warned != row.Server {
		e.warned = row.Server
		e.log.Warn("the database was restored, or a standby was promoted; run `admin restore-finish`",
			"history", row.Server, "before", row.History)
	}
}

// epochRow is the row of the table restore_epoch with the server's present history.
type epochRow sqlc.RestoreEpochRow

func readEpoch(ctx context.Context, db pg.DB) (epochRow, error) {
	row, err := queries.RestoreEpoch(ctx, db)
	return epochRow(row), err
}

// effective returns the restore epoch that processes compare. A restore changes it even before `admin
// restore-finish` is run.
func (r epochRow) effective() (e ports.RestoreEpoch) {
	sum := sha256.Sum256([]byte(r.Epoch.String() + " " + r.Server + " " + r.Database))
	copy(e[:], sum[:])
	return e
}

func (r epochRow) restored() bool { return r.History != "" && r.Server != "" && r.History != r.Server }

// CheckRestoreFinished returns ErrDatabaseRestored if `admin restore-finish` has not been run since a restore.
func CheckRestoreFinished(ctx context.Context, pool *pgxpool.Pool) error {
	row, err := readEpoch(ctx, pg.DB{Pool: pool, Wait: epochPatience})
	if err == nil && row.restored() {
		err = ErrDatabaseRestored
	}
	return err
}

func (r DatabaseRestoreStore) BeginEpoch(ctx context.Context, epoch id.ID, at time.Time) error {
	rows, err := queries.BeginEpoch(ctx, pg.In(ctx), epoch, at)
	if err == nil && rows != 1 {
		return errors.New("postgres: restore_epoch must have exactly one row")
	}
	return err
}
