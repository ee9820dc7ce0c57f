package deposits

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/evidence"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

const (
	filesBatch = 100
	// The time for which an expired file is kept: the clocks of processes differ, and an operator may just be
	// confirming its form.
	filesGrace = 10 * time.Minute
)

type UnconfirmedFileRemover struct {
	Files      depositports.FileStore
	Contents   depositports.FileContentStore
	UnitOfWork ports.UnitOfWork
	Clock      ports.Clock
}

// ScheduledJob returns the job that deletes uploads whose forms were not confirmed in time.
func (w UnconfirmedFileRemover) ScheduledJob() schedules.Job {
	return schedules.Job{Name: "waiting files", Every: schedules.CleaningInterval, Run: w.remove}
}

// remove deletes a file's content before its record, by which a run after an interruption finds it.
func (w UnconfirmedFileRemover) remove(ctx context.Context) (more bool, err error) {
	ids, err := w.Files.AbandonedFileIDs(ctx, w.Clock.Now().Add(-evidence.UnconfirmedFileLifetime-filesGrace), filesBatch)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	if err := w.Contents.Delete(ctx, ids); err != nil {
		return false, err
	}
	err = w.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error { return w.Files.DeleteRecords(ctx, ids) })
	return len(ids) == filesBatch && err == nil, err
}
