package idempotent

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

// CleanJob returns the scheduled job that deletes idempotency keys that are older than the time for which
// responses are replayed.
func (e *Executor) CleanJob(clock ports.Clock) schedules.Job {
	return schedules.NewCleaningJob("idempotency keys", clock,
		schedules.WithinTx(e.deps.UnitOfWork, func(ctx context.Context, now time.Time) (int, error) {
			return e.deps.Idempotency.DeleteExpired(ctx, now.Add(-ports.IdempotencyWindow), schedules.CleaningBatchSize)
		}))
}
