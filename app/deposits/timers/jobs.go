package timers

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
)

// ScheduledJobs returns one job for each timer of deposits; a round moves all that are due.
func (s *Service) ScheduledJobs(every time.Duration) []schedules.Job {
	job := func(name string, run func(context.Context) (int, error)) schedules.Job {
		return schedules.Job{Name: name, Every: every, Run: func(ctx context.Context) (bool, error) {
			_, err := run(ctx)
			return false, err
		}}
	}
	return []schedules.Job{
		job("idle checkouts", s.MarkIdleCheckouts),
		job("expired checkouts", s.ExpireCheckouts),
		job("elapsed coverage", s.CloseElapsedDeposits),
	}
}
