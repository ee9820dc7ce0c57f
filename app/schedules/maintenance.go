package schedules

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// How long rows are kept. Events are what partners may still ask for (api.md §2); the log of deliveries goes with them.
const (
	partitionsAhead = 14 // days
	retentionDays   = 30
	retention       = retentionDays * 24 * time.Hour
	cleaningBatch   = 1000
	cleaningEvery   = time.Minute
	partitionsEvery = time.Hour
)

// Upkeep is what the maintenance jobs stand on.
type Upkeep struct {
	Tables     ports.Maintenance
	UnitOfWork ports.UnitOfWork
	Clock      ports.Clock
}

// Jobs gives the maintenance jobs: partitions, and the removal of what is past its time, in small batches.
func (u Upkeep) Jobs() []Job {
	cleaning := func(name string, clean func(ctx context.Context, now time.Time) (int, error)) Job {
		return Job{Name: name, Every: cleaningEvery, Run: func(ctx context.Context) (bool, error) {
			n, err := clean(ctx, u.Clock.Now())
			return n == cleaningBatch, err
		}}
	}
	return []Job{
		{Name: "partitions", Every: partitionsEvery, Run: u.partitions},
		cleaning("sessions", func(ctx context.Context, now time.Time) (int, error) {
			return u.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Operators.DeleteExpiredSessions(ctx, now, cleaningBatch)
			})
		}),
		cleaning("idempotency keys", func(ctx context.Context, now time.Time) (int, error) {
			return u.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Idempotency.DeleteExpired(ctx, now.Add(-ports.IdempotencyWindow), cleaningBatch)
			})
		}),
		cleaning("replays", func(ctx context.Context, now time.Time) (int, error) {
			return u.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Replays.DeleteFinished(ctx, now.Add(-retention), cleaningBatch)
			})
		}),
		cleaning("deliveries", func(ctx context.Context, now time.Time) (int, error) {
			return u.Tables.DeleteFinishedDeliveries(ctx, now.Add(-retention), cleaningBatch)
		}),
		cleaning("mails", func(ctx context.Context, now time.Time) (int, error) {
			return u.Tables.DeleteFinishedMails(ctx, now.Add(-retention), cleaningBatch)
		}),
		{Name: "backlogs", Every: cleaningEvery, Run: func(ctx context.Context) (bool, error) {
			moved, err := u.Tables.TidyDeliveries(ctx, webhook.ReleasePerSecond)
			return moved > 0 && err == nil, err
		}},
	}
}

func (u Upkeep) partitions(ctx context.Context) (bool, error) {
	if err := u.Tables.EnsurePartitions(ctx, partitionsAhead); err != nil {
		return false, err
	}
	return false, u.Tables.DropPartitions(ctx, retentionDays)
}

func (u Upkeep) within(ctx context.Context, do func(context.Context, ports.Repositories) (int, error)) (n int, err error) {
	err = u.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		n, err = do(ctx, repos)
		return err
	})
	return n, err
}
