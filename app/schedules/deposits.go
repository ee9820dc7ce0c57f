package schedules

import (
	"context"
	"time"
)

// Deposits is what the timers of deposits do; checkout.Service does it. Each gives how many it moved.
type Deposits interface {
	MarkIdle(ctx context.Context) (int, error)
	ExpireCheckouts(ctx context.Context) (int, error)
	CloseElapsed(ctx context.Context) (int, error)
	ReconcilePayments(ctx context.Context) (int, error)
}

// DepositJobs gives one job for each timer. A round works through all that is due.
func DepositJobs(d Deposits, every time.Duration) []Job {
	job := func(name string, run func(context.Context) (int, error)) Job {
		return Job{Name: name, Every: every, Run: func(ctx context.Context) (bool, error) {
			_, err := run(ctx)
			return false, err
		}}
	}
	return []Job{
		job("idle checkouts", d.MarkIdle),
		job("expired checkouts", d.ExpireCheckouts),
		job("elapsed coverage", d.CloseElapsed),
		job("payments", d.ReconcilePayments),
	}
}
