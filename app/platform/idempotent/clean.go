package idempotent

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

// CleanJob returns the scheduled job that deletes idempotency keys whose window is over.
func (e *Executor) CleanJob(clock ports.Clock) schedules.Job {
	return schedules.Cleaning("idempotency keys", clock,
		schedules.Within(e.deps.UnitOfWork, func(ctx context.Context, now time.Time) (int, error) {
			return e.deps.Idempotency.DeleteExpired(ctx, now.Add(-ports.IdempotencyWindow), schedules.CleaningBatch)
		}))
}
