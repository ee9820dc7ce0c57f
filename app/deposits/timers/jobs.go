package timers

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

// ScheduledJobs returns one job for each timer of deposits; a round moves all that are due.
func (s *Service) ScheduledJobs(every time.Duration) []schedules.Job {
	job := func(name string, waits func(ports.WaitingWorkFlags) bool, run func(context.Context) (int,
		error)) schedules.Job {
		return schedules.Job{Name: name, Every: every, Waits: waits, Run: func(ctx context.Context) (bool, error) {
			_, err := run(ctx)
			return false, err
		}}
	}
	return []schedules.Job{
		job("idle checkouts", func(w ports.WaitingWorkFlags) bool { return w.IdleCheckouts }, s.MarkIdleCheckouts),
		job("expired checkouts", func(w ports.WaitingWorkFlags) bool { return w.ExpiredCheckouts }, s.ExpireCheckouts),
		job("elapsed coverage", func(w ports.WaitingWorkFlags) bool { return w.ElapsedCoverages }, s.CloseElapsedDeposits),
	}
}
