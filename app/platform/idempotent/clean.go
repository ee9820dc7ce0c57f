package idempotent

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

// KeyCleaningJob deletes idempotency keys older than the time for replays.
func (e *Executor) KeyCleaningJob(clock ports.Clock) schedules.Job {
	return schedules.NewCleaningJob("idempotency keys", clock,
		schedules.CleanWithinTx(e.deps.UnitOfWork, func(ctx context.Context, now time.Time) (int, error) {
			return e.deps.Idempotency.DeleteExpired(ctx, now.Add(-ports.IdempotencyWindow), schedules.CleaningBatchSize)
		}))
}
