package schedules

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// How long rows are kept: events and the delivery log as long as partners may read them (api.md §2).
const (
	partitionsAhead = 14 // days
	retentionDays   = 30
	retention       = retentionDays * 24 * time.Hour
	cleaningBatch   = 1000
	cleaningEvery   = time.Minute
	partitionsEvery = time.Hour
)

// Maintenance holds the capabilities of the maintenance jobs.
type Maintenance struct {
	Tables     ports.Maintenance
	UnitOfWork ports.UnitOfWork
	Clock      ports.Clock
}

// Jobs gives the maintenance jobs: daily partitions, and the removal of old rows in small batches.
func (m Maintenance) Jobs() []Job {
	cleaning := func(name string, clean func(ctx context.Context, now time.Time) (int, error)) Job {
		return Job{Name: name, Every: cleaningEvery, Run: func(ctx context.Context) (bool, error) {
			n, err := clean(ctx, m.Clock.Now())
			return n == cleaningBatch, err
		}}
	}
	return []Job{
		{Name: "partitions", Every: partitionsEvery, Soon: true, Run: m.partitions},
		cleaning("sessions", func(ctx context.Context, now time.Time) (int, error) {
			return m.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Operators.DeleteExpiredSessions(ctx, now, cleaningBatch)
			})
		}),
		cleaning("idempotency keys", func(ctx context.Context, now time.Time) (int, error) {
			return m.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Idempotency.DeleteExpired(ctx, now.Add(-ports.IdempotencyWindow), cleaningBatch)
			})
		}),
		cleaning("finished replays", func(ctx context.Context, now time.Time) (int, error) {
			return m.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Replays.DeleteFinished(ctx, now.Add(-retention), cleaningBatch)
			})
		}),
		cleaning("deliveries", func(ctx context.Context, now time.Time) (int, error) {
			return m.Tables.DeleteFinishedDeliveries(ctx, now.Add(-retention), cleaningBatch)
		}),
		cleaning("mails", func(ctx context.Context, now time.Time) (int, error) {
			return m.Tables.DeleteFinishedMails(ctx, now.Add(-retention), cleaningBatch)
		}),
		{Name: "backlogs", Every: cleaningEvery, Run: func(ctx context.Context) (bool, error) {
			moved, err := m.Tables.TidyDeliveries(ctx, webhook.ReleasePerSecond)
			return moved > 0 && err == nil, err
		}},
	}
}

// partitions drops old partitions even when a partition could not be made.
func (m Maintenance) partitions(ctx context.Context) (bool, error) {
	return false, errors.Join(m.Tables.EnsurePartitions(ctx, partitionsAhead), m.Tables.DropPartitions(ctx, retentionDays))
}

func (m Maintenance) within(ctx context.Context, do func(context.Context, ports.Repositories) (int, error)) (n int, err error) {
	err = m.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		n, err = do(ctx, repos)
		return err
	})
	return n, err
}
