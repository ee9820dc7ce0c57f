package schedules

import (
	"context"
	"errors"
	"time"

	ports "partnerdeposits/ports/platform"
)

const (
	// CleaningBatchSize is the largest number of rows that a round of a cleaning job deletes.
	CleaningBatchSize = 1000
	// CleaningInterval is the time between two rounds of a cleaning job.
	CleaningInterval = time.Minute
	// NoticeBatchSize is the largest number of notices that a job reads in a round.
	NoticeBatchSize = 100
)

// CleanFunc is a function that deletes rows that are old at now, up to CleaningBatchSize, and returns their number.
type CleanFunc func(ctx context.Context, now time.Time) (int, error)

// CleanWithinTx returns a CleanFunc that runs clean in a transaction.
func CleanWithinTx(work ports.UnitOfWork, clean CleanFunc) CleanFunc {
	return func(ctx context.Context, now time.Time) (n int, err error) {
		err = work.WithinTx(ctx, func(ctx context.Context) (err error) {
			n, err = clean(ctx, now)
			return err
		})
		return n, err
	}
}

// NewCleaningJob returns a scheduled job that deletes old rows in small batches.
func NewCleaningJob(name string, clock ports.Clock, clean CleanFunc) Job {
	return Job{Name: name, Every: CleaningInterval, Run: func(ctx context.Context) (bool, error) {
		n, err := clean(ctx, clock.Now())
		return n == CleaningBatchSize, err
	}}
}

// NotifyEach calls tell for every notice of a batch: a stored reason to mail somebody. A notice that fails stays
// in its table and is retried in the next round; it delays no other. err is the error of the query for due
// notices. more is true when the batch was full, so that more notices may be due; else false.
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
