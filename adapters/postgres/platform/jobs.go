package platform

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	ports "partnerdeposits/ports/platform"
)

// WaitingWork finds out which jobs have work, by one statement (ports.WaitingWork). If there is none, the statement
// must not read whole tables, so its pool has the settings IndexPlans.
type WaitingWork struct{ db pg.DB }

var _ ports.WaitingWork = WaitingWork{}

// NewWaitingWork makes a WaitingWork, which finds out which jobs have work, over a pool with the settings
// IndexPlans.
func NewWaitingWork(pool *pgxpool.Pool) WaitingWork {
	return WaitingWork{pg.DB{Pool: pool, Wait: lookPatience}}
}

// The longest wait for a connection to Postgres when the process finds out which jobs have work.
const lookPatience = 3 * time.Second

func (w WaitingWork) WaitingWork(ctx context.Context, now, idleBefore time.Time) (ports.Waiting, error) {
	row, err := queries.WaitingWork(ctx, w.db, idleBefore, now)
	return ports.Waiting(row), err
}
