package timers

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
)

// Jobs gives one job for each timer. A round works through everything that is due.
func (s *Service) Jobs(every time.Duration) []schedules.Job {
	job := func(name string, run func(context.Context) (int, error)) schedules.Job {
		return schedules.Job{Name: name, Every: every, Run: func(ctx context.Context) (bool, error) {
			_, err := run(ctx)
			return false, err
		}}
	}
	return []schedules.Job{
		job("idle checkouts", s.MarkIdle),
		job("expired checkouts", s.ExpireCheckouts),
		job("elapsed coverage", s.CloseElapsed),
	}
}
