package schedules

import (
	"context"
	"errors"
	"time"

	ports "partnerdeposits/ports/platform"
)

const (
	// CleaningBatch is the largest number of rows that a round of a cleaning job deletes.
	CleaningBatch = 1000
	// CleaningEvery is the time between two rounds of a cleaning job.
	CleaningEvery = time.Minute
	// NoticeBatch is the largest number of notices that a job reads in a round.
	NoticeBatch = 100
)

// Clean is a function that deletes rows that are old at now, up to CleaningBatch, and returns their number.
type Clean func(ctx context.Context, now time.Time) (int, error)

// Within returns a Clean that runs clean in a transaction.
func Within(work ports.UnitOfWork, clean Clean) Clean {
	return func(ctx context.Context, now time.Time) (n int, err error) {
		err = work.WithinTx(ctx, func(ctx context.Context) (err error) {
			n, err = clean(ctx, now)
			return err
		})
		return n, err
	}
}

// Cleaning returns a scheduled job that deletes old rows in small batches.
func Cleaning(name string, clock ports.Clock, clean Clean) Job {
	return Job{Name: name, Every: CleaningEvery, Run: func(ctx context.Context) (bool, error) {
		n, err := clean(ctx, clock.Now())
		return n == CleaningBatch, err
	}}
}

// Each calls tell for every notice of a batch. A notice that fails stays in its table and is retried in the
// next round; it delays no other. err is the error of the query for due notices. more is true for a full
// batch without an error, else false.
func Each[T any](
	ctx context.Context, due []T, err error, tell func(context.Context, T) error,
) (more bool, _ error) {
	failures := []error{err}
	for _, notice := range due {
		failures = append(failures, tell(ctx, notice))
	}
	err = errors.Join(failures...)
	return len(due) == NoticeBatch && err == nil, err
}
