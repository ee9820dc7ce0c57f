package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// How long rows are kept: events and the delivery log as long as partners may read them (api.md §2).
const (
	partitionsAhead = 14 // The number of days ahead for which daily partitions exist.
	retentionDays   = 30
	retention       = retentionDays * 24 * time.Hour
	// How long a delivery that ended late, after its subscription was disabled for long, stays in the delivery
	// log.
	endedFor        = 7 * 24 * time.Hour
	partitionsEvery = time.Hour
)

type RetentionJobs struct {
	Tables     webhookports.RetentionStore
	Replays    webhookports.ReplayStore
	UnitOfWork ports.UnitOfWork
	Metrics    webhookports.DispatchMetrics
	Clock      ports.Clock
	Log        *slog.Logger
}

// ScheduledJobs returns the scheduled jobs that make daily partitions and remove old events, deliveries and replays.
func (r RetentionJobs) ScheduledJobs() []schedules.Job {
	return []schedules.Job{
		{Name: "partitions", Every: partitionsEvery, Soon: true, Run: r.partitions},
		schedules.NewCleaningJob("finished replays", r.Clock,
			schedules.CleanWithinTx(r.UnitOfWork, func(ctx context.Context, now time.Time) (int, error) {
				return r.Replays.DeleteFinished(ctx, now.Add(-retention), schedules.CleaningBatchSize)
			})),
		schedules.NewCleaningJob("parked deliveries", r.Clock, r.endParked),
		schedules.NewCleaningJob("deliveries", r.Clock, func(ctx context.Context, now time.Time) (int, error) {
			return r.Tables.DeleteFinishedDeliveries(ctx, now.Add(-retention), now.Add(-endedFor), schedules.CleaningBatchSize)
		}),
		{Name: "backlogs", Every: schedules.CleaningInterval, Run: func(ctx context.Context) (bool, error) {
			moved, err := r.Tables.ReleaseOrCancelDeliveries(ctx, webhook.UnparkedDeliveriesPerSecond)
			return moved > 0 && err == nil, err
		}},
	}
}

func (r RetentionJobs) partitions(ctx context.Context) (bool, error) {
	return false, errors.Join(r.Tables.EnsurePartitions(ctx, partitionsAhead), r.Tables.DropPartitions(ctx, retentionDays))
}

// endParked ends the deliveries of subscriptions that stayed disabled for as long as events are kept.
func (r RetentionJobs) endParked(ctx context.Context, now time.Time) (int, error) {
	ended, err := r.Tables.EndParkedDeliveries(ctx, now.Add(-retention), schedules.CleaningBatchSize)
	counts := map[id.ID]int{}
	for _, d := range ended {
		r.Metrics.CountFinished(d.Event, webhook.StatusFailed, now.Sub(d.EventAt), "")
		counts[d.SubscriptionID]++
	}
	for subscriptionID, n := range counts {
		r.Log.InfoContext(ctx, "parked deliveries ended as failed, since their subscription stayed disabled for 30 days",
			"subscription", id.Subscription.Of(subscriptionID), "deliveries", n)
	}
	return len(ended), err
}
