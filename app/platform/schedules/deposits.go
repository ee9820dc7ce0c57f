package schedules

import (
	"context"
	"time"
)

// Timers are the timers of deposits; timers.Service implements them. Each gives how many deposits it moved.
type Timers interface {
	MarkIdle(ctx context.Context) (int, error)
	ExpireCheckouts(ctx context.Context) (int, error)
	CloseElapsed(ctx context.Context) (int, error)
}

// Payments asks the provider about payments left in processing; payments.Service implements it.
type Payments interface {
	// Reconcile gives how many payments it settled.
	Reconcile(ctx context.Context) (int, error)
}

// DepositJobs gives one job for each timer and one for payments. A round works through everything that is due.
func DepositJobs(t Timers, p Payments, every time.Duration) []Job {
	job := func(name string, run func(context.Context) (int, error)) Job {
		return Job{Name: name, Every: every, Run: func(ctx context.Context) (bool, error) {
			_, err := run(ctx)
			return false, err
		}}
	}
	return []Job{
		job("idle checkouts", t.MarkIdle),
		job("expired checkouts", t.ExpireCheckouts),
		job("elapsed coverage", t.CloseElapsed),
		job("payments", p.Reconcile),
	}
}
