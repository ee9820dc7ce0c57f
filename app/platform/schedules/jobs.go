package schedules

import (
	"context"
	"errors"
	"time"

	ports "partnerdeposits/ports/platform"
)

const (
	// CleaningBatch is how many rows a round of Cleaning removes at most.
	CleaningBatch = 1000
	// CleaningEvery is the time between two rounds of a job that tidies up.
	CleaningEvery = time.Minute
	// NoticeBatch is how many notices a job that uses Each reads in a round at most.
	NoticeBatch = 100
)

// Clean removes rows that are old at now, up to CleaningBatch, and gives their number.
type Clean func(ctx context.Context, now time.Time) (int, error)

// Within runs clean in a transaction.
func Within(work ports.UnitOfWork, clean Clean) Clean {
	return func(ctx context.Context, now time.Time) (n int, err error) {
		err = work.WithinTx(ctx, func(ctx context.Context) (err error) {
			n, err = clean(ctx, now)
			return err
		})
		return n, err
	}
}

// Cleaning gives a job that removes old rows in small batches.
func Cleaning(name string, clock ports.Clock, clean Clean) Job {
	return Job{Name: name, Every: CleaningEvery, Run: func(ctx context.Context) (bool, error) {
		n, err := clean(ctx, clock.Now())
		return n == CleaningBatch, err
	}}
}

// Each calls tell for every notice of a batch. A notice that fails stays in its table, so the next round takes it up
// again; it delays no other. err is the error of the query for due notices. more is true for a full batch without an
// error.
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
