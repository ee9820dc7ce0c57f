package platform

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	ports "partnerdeposits/ports/platform"
)

// WaitingWorkReader finds out which jobs have work, by a single statement (ports.WaitingWork). If there is none, the
// statement must not read whole tables, so its pool has the settings IndexPlanSettings.
type WaitingWorkReader struct{ db pg.DB }

var _ ports.WaitingWorkReader = WaitingWorkReader{}

// NewWaitingWorkReader makes a WaitingWork, which finds out which jobs have work, over a pool with the settings
// IndexPlanSettings.
func NewWaitingWorkReader(pool *pgxpool.Pool) WaitingWorkReader {
	return WaitingWorkReader{pg.DB{Pool: pool, Wait: lookPatience}}
}

// The longest wait for a connection to Postgres when the process finds out which jobs have work.
const lookPatience = 3 * time.Second

func (w WaitingWorkReader) WaitingWork(ctx context.Context, now, idleBefore time.Time) (ports.WaitingWorkFlags, error) {
	row, err := queries.WaitingWork(ctx, w.db, idleBefore, now)
	return ports.WaitingWorkFlags(row), err
}
