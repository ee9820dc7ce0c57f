package schedules

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// How long rows are kept: events and the delivery log as long as partners may read them (api.md §2).
const (
	partitionsAhead = 14 // days
	retentionDays   = 30
	retention       = retentionDays * 24 * time.Hour
	endedFor        = 7 * 24 * time.Hour // a delivery that ends late, after being parked, stays in the delivery log for this time
	tokensKeptFor   = 24 * time.Hour     // after their end, to count the mails of the last hour
	cleaningBatch   = 1000
	cleaningEvery   = time.Minute
	partitionsEvery = time.Hour
	addressBatch    = 100
	addressPause    = 5 * time.Minute // between two looks at the deposits of an erased client (api.md §2, "Erasure")
)

// Maintenance holds the capabilities of the maintenance jobs.
type Maintenance struct {
	Tables     ports.Maintenance
	Addresses  ports.SealedAddresses
	Files      ports.FileRecords
	Contents   ports.FileContents
	UnitOfWork ports.UnitOfWork
	Metrics    ports.DeliveryMetrics
	Clock      ports.Clock
	Log        *slog.Logger
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
		cleaning("tokens of mails", func(ctx context.Context, now time.Time) (int, error) {
			return m.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.Operators.DeleteExpiredTokens(ctx, now.Add(-tokensKeptFor), cleaningBatch)
			})
		}),
		cleaning("half sign-ins", func(ctx context.Context, now time.Time) (int, error) {
			return m.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
				return repos.HalfSignIns.DeleteExpired(ctx, now, cleaningBatch)
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
		cleaning("parked deliveries", m.endParked),
		cleaning("deliveries", func(ctx context.Context, now time.Time) (int, error) {
			return m.Tables.DeleteFinishedDeliveries(ctx, now.Add(-retention), now.Add(-endedFor), cleaningBatch)
		}),
		cleaning("mails", func(ctx context.Context, now time.Time) (int, error) {
			return m.Tables.DeleteFinishedMails(ctx, now.Add(-retention), cleaningBatch)
		}),
		{Name: "sealed addresses", Every: cleaningEvery, Run: func(ctx context.Context) (bool, error) {
			checked, err := m.Addresses.CheckSealedAddresses(ctx, addressBatch, addressPause)
			return checked == addressBatch, err
		}},
		{Name: "waiting files", Every: cleaningEvery, Run: m.waitingFiles},
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

// endParked ends the deliveries of subscriptions that stayed disabled for as long as events are kept.
func (m Maintenance) endParked(ctx context.Context, now time.Time) (int, error) {
	ended, err := m.Tables.EndParkedDeliveries(ctx, now.Add(-retention), cleaningBatch)
	counts := map[id.ID]int{}
	for _, d := range ended {
		m.Metrics.Finished(d.Event, webhook.StatusFailed, now.Sub(d.EventAt))
		counts[d.SubscriptionID]++
	}
	for subscriptionID, n := range counts {
		m.Log.InfoContext(ctx, "parked deliveries ended as failed, since their subscription stayed disabled for 30 days",
			"subscription", id.Subscription.Of(subscriptionID), "deliveries", n)
	}
	return len(ended), err
}

func (m Maintenance) within(ctx context.Context, do func(context.Context, ports.Repositories) (int, error)) (n int, err error) {
	err = m.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		n, err = do(ctx, repos)
		return err
	})
	return n, err
}
