package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// EndedDelivery is a delivery that was ended as failed without a further attempt, since its subscription stayed
// disabled.
type EndedDelivery struct {
	SubscriptionID id.ID
	Event          webhook.EventName
	EventAt        time.Time
}

// RetentionStore makes and drops the daily partitions of events and attempts, and removes old deliveries.
type RetentionStore interface {
	// EnsurePartitions makes the daily partitions of the next days, and of past days whose rows are in a default
	// partition.
	EnsurePartitions(ctx context.Context, days int) error
	DropPartitions(ctx context.Context, days int) error
	// EndParkedDeliveries ends as failed up to limit deliveries of disabled subscriptions that were created before
	// the time at, with the reason webhook.WebhookDisabled, and returns them.
	EndParkedDeliveries(ctx context.Context, at time.Time, limit int) (ended []EndedDelivery, err error)
	// DeleteFinishedDeliveries removes up to limit finished deliveries that were created before the time at and
	// ended before endedBy, and returns the number.
	DeleteFinishedDeliveries(ctx context.Context, at, endedBy time.Time, limit int) (int, error)
	// ReleaseOrCancelDeliveries makes waiting deliveries of enabled subscriptions due, releasePerSecond in each
	// second, and cancels deliveries of deleted subscriptions. A call does a bounded part; moved is 0 once nothing is
	// left.
	ReleaseOrCancelDeliveries(ctx context.Context, releasePerSecond int) (moved int, err error)
}
