package timers

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"partnerdeposits/app/platform/parallel"
	"partnerdeposits/core/id"
)

// maxFailing limits the failing deposits that a run reads on top of a batch.
const maxFailing = 5_000

// timer makes the transitions of deposits due for a reason. A run reads as many more as failed last, so that
// those never hide the others.
type timer struct {
	name    string
	failing atomic.Int64 // The number of deposits whose transition failed in the timer's last run.
}

// run moves all due deposits, until a batch contains only those that failed in this run.
func (t *timer) run(ctx context.Context, log *slog.Logger,
	find func(ctx context.Context, limit int) ([]id.ID, error),
	move func(ctx context.Context, depositID id.ID) (bool, error),
) (moved int, err error) {
	failed := map[id.ID]bool{}
	limit := parallel.BatchSize + int(min(t.failing.Load(), maxFailing))
	for ctx.Err() == nil {
		due, err := find(ctx, limit)
		if err != nil {
			return moved, fmt.Errorf("%s: %w", t.name, err)
		}
		fresh := make([]id.ID, 0, len(due))
		for _, depositID := range due {
			if !failed[depositID] {
				fresh = append(fresh, depositID)
			}
		}
		parallel.Each(fresh, func(depositID id.ID) (bool, error) { return move(ctx, depositID) },
			func(depositID id.ID, done bool, err error) {
				if done {
					moved++
				}
				if err != nil {
					failed[depositID] = true
					log.ErrorContext(ctx, t.name+" failed", "deposit", id.Deposit.Of(depositID), "error", err)
				}
			})
		if len(due) < limit || len(fresh) == 0 {
			break
		}
		limit = parallel.BatchSize + min(len(failed), maxFailing)
	}
	t.failing.Store(int64(len(failed)))
	return moved, ctx.Err()
}
