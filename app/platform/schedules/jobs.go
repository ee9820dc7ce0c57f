package schedules

import (
	"context"
	"errors"
	"time"

	ports "partnerdeposits/ports/platform"
)

const (
	CleaningBatchSize = 1000
	CleaningInterval  = time.Minute
	NoticeBatchSize   = 100
)

// CleanFunc deletes rows that are old at now, up to CleaningBatchSize, and returns their number.
type CleanFunc func(ctx context.Context, now time.Time) (int, error)

func CleanWithinTx(work ports.UnitOfWork, clean CleanFunc) CleanFunc {
	return func(ctx context.Context, now time.Time) (n int, err error) {
		err = work.WithinTx(ctx, func(ctx context.Context) (err error) {
			n, err = clean(ctx, now)
			return err
		})
		return n, err
	}
}

// NewCleaningJob returns a job that deletes old rows in small batches.
func NewCleaningJob(name string, clock ports.Clock, clean CleanFunc) Job {
	return Job{Name: name, Every: CleaningInterval, Run: func(ctx context.Context) (bool, error) {
		n, err := clean(ctx, clock.Now())
		return n == CleaningBatchSize, err
	}}
}

// NotifyEach calls tell for each notice of a batch; a failed one is retried and delays no other. err is that of
// the query; more is true after a full batch.
func NotifyEach[T any](
	ctx context.Context, due []T, err error, tell func(context.Context, T) error,
) (more bool, _ error) {
	failures := []error{err}
	for _, notice := range due {
		failures = append(failures, tell(ctx, notice))
	}
	err = errors.Join(failures...)
	return len(due) == NoticeBatchSize && err == nil, err
}
