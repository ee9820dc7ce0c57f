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
	// The time between two reads of the restore epoch, the id of the database's history since its last restore.
	epochEvery = 2 * time.Second
	// The time limit of a read of the restore epoch (the id of the database's history since its last restore). It is
	// so short that the next read comes before the last result is too old.
	epochPatience = 2 * time.Second
	// The age above which the restore epoch that was read (the id of the database's history since its last restore)
	// no longer counts, since the database may have been restored meanwhile.
	epochHolds = 5 * time.Second
)

// ErrDatabaseRestored is the error for a database that was restored from a backup, or whose standby was promoted, so
// that its history differs from the one that the service has recorded.
var ErrDatabaseRestored = errors.New(
	"postgres: the database was restored, or a standby was promoted: run `admin restore-finish`")

// RestoreEpoch reads and keeps the restore epoch of a database: the id of its history since the last restore from a
// backup (ports.Epoch). If a process could not read it for some seconds, it counts as unknown.
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

// NewRestoreEpoch makes an Epoch, which keeps the id of the database's history since its last restore. The id is
// unknown until Watch runs.
func NewRestoreEpoch(pool *pgxpool.Pool, log *slog.Logger) *RestoreEpoch {
	return &RestoreEpoch{db: pg.DB{Pool: pool, Wait: epochPatience}, log: log}
}

// Current returns the restore epoch (the id of the database's history since its last restore), or the zero value
// while it is unknown. It makes no query.
func (e *RestoreEpoch) Current() ports.RestoreEpoch {
	known := e.known.Load()
	if known == nil || time.Since(known.readAt) > epochHolds {
		return ports.RestoreEpoch{}
	}
	return known.epoch
}

// Watch reads the restore epoch (the id of the database's history since its last restore) every two seconds until
// ctx ends.
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

// read reads the restore epoch (the id of the database's history since its last restore). It takes the time before
// the query, so that Current never counts a read as younger than it is. After an error the previous epoch stays
// valid for epochHolds; readiness reports the outage.
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

// epochRow is the row of the table restore_epoch, together with the server's present history and the object id of
// the database, which a restore may change.
type epochRow sqlc.RestoreEpochRow

func readEpoch(ctx context.Context, db pg.DB) (epochRow, error) {
	row, err := queries.RestoreEpoch(ctx, db)
	return epochRow(row), err
}

// effective returns the restore epoch (the id of the database's history) that processes compare. A restore that
// changes server, timeline or database changes the epoch even before `admin restore-finish` is run.
func (r epochRow) effective() (e ports.RestoreEpoch) {
	sum := sha256.Sum256([]byte(r.Epoch.String() + " " + r.Server + " " + r.Database))
	copy(e[:], sum[:])
	return e
}

func (r epochRow) restored() bool { return r.History != "" && r.Server != "" && r.History != r.Server }

// CheckRestoreFinished returns ErrDatabaseRestored if the database was restored and `admin restore-finish` has not
// been run since.
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
