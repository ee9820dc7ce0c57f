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
	epochEvery    = 2 * time.Second // between two reads of the epoch
	epochPatience = 2 * time.Second // bounds a read, so that the next one comes before the last answer is too old
	epochHolds    = 5 * time.Second // a read that is older does not count: the database may have been restored meanwhile
)

// ErrRestored says that the server has another history than when the restore epoch began: the database was restored
// from a backup, or a standby was promoted.
var ErrRestored = errors.New(
	"postgres: the database was restored, or a standby was promoted: run `admin restore-finish`")

// Epoch knows the restore epoch of a database (ports.Epoch). A process that reads no epoch for seconds does not know
// it.
type Epoch struct {
	db     pg.DB
	log    *slog.Logger
	known  atomic.Pointer[knownEpoch]
	warned string // the history that the log has named
}

type knownEpoch struct {
	epoch  ports.Epoch
	readAt time.Time
}

// NewEpoch knows no epoch until Watch runs.
func NewEpoch(pool *pgxpool.Pool, log *slog.Logger) *Epoch {
	return &Epoch{db: pg.DB{Pool: pool, Wait: epochPatience}, log: log}
}

// Current returns the epoch, and the zero value while it is unknown. Current does no I/O.
func (e *Epoch) Current() ports.Epoch {
	known := e.known.Load()
	if known == nil || time.Since(known.readAt) > epochHolds {
		return ports.Epoch{}
	}
	return known.epoch
}

// Watch reads the epoch every two seconds until ctx ends.
func (e *Epoch) Watch(ctx context.Context) error {
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

// read takes the time before the query, so that Current never counts a read as younger than it is. Without an answer
// the epoch that was read before holds for epochHolds; readiness reports the outage.
func (e *Epoch) read(ctx context.Context) {
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

// epochRow is the row of restore_epoch, with the present history of the server and the object id of the database.
type epochRow sqlc.RestoreEpochRow

func readEpoch(ctx context.Context, db pg.DB) (epochRow, error) {
	row, err := queries.RestoreEpoch(ctx, db)
	return epochRow(row), err
}

// effective is the epoch that processes compare. A restore that changes server, timeline or database gives another
// epoch before anybody runs `admin restore-finish`.
func (r epochRow) effective() (e ports.Epoch) {
	sum := sha256.Sum256([]byte(r.Epoch.String() + " " + r.Server + " " + r.Database))
	copy(e[:], sum[:])
	return e
}

func (r epochRow) restored() bool { return r.History != "" && r.Server != "" && r.History != r.Server }

// CheckRestored returns ErrRestored while a restore waits for `admin restore-finish`.
func CheckRestored(ctx context.Context, pool *pgxpool.Pool) error {
	row, err := readEpoch(ctx, pg.DB{Pool: pool, Wait: epochPatience})
	if err == nil && row.restored() {
		err = ErrRestored
	}
	return err
}

// Finish implements ports.Restores.
func (r Restores) Finish(ctx context.Context, epoch id.ID, at time.Time) error {
	rows, err := queries.BeginEpoch(ctx, pg.In(ctx), epoch, at)
	if err == nil && rows != 1 {
		return errors.New("postgres: restore_epoch must have exactly one row")
	}
	return err
}
