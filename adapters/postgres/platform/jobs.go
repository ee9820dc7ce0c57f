package platform

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	ports "partnerdeposits/ports/platform"
)

// WaitingWorkReader finds out which jobs have work. Its pool must have IndexPlanSettings, so that no table is
// read whole.
type WaitingWorkReader struct{ db pg.DB }

var _ ports.WaitingWorkReader = WaitingWorkReader{}

func NewWaitingWorkReader(pool *pgxpool.Pool) WaitingWorkReader {
	return WaitingWorkReader{pg.DB{Pool: pool, Wait: lookPatience}}
}

// The longest wait for a connection when the process finds out which jobs have work.
const lookPatience = 3 * time.Second

func (w WaitingWorkReader) WaitingWork(ctx context.Context, now, idleBefore time.Time) (ports.WaitingWorkFlags, error) {
	row, err := queries.WaitingWork(ctx, w.db, idleBefore, now)
	return ports.WaitingWorkFlags(row), err
}
