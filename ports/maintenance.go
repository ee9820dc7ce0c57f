package ports

import (
	"context"
	"time"
)

// Maintenance keeps the tables from growing for ever. Any number of dispatchers may do it at once.
type Maintenance interface {
	// EnsurePartitions makes the daily partitions up to days from now.
	EnsurePartitions(ctx context.Context, days int) error
	// DropPartitions drops the partitions of events and attempts whose every row is older than days.
	DropPartitions(ctx context.Context, days int) error
	// DeleteFinishedDeliveries removes up to limit deliveries made before at that are finished.
	DeleteFinishedDeliveries(ctx context.Context, at time.Time, limit int) (int, error)
	// DeleteFinishedMails removes up to limit mails that were sent or given up before at.
	DeleteFinishedMails(ctx context.Context, at time.Time, limit int) (int, error)
	// TidyDeliveries goes on with what was too much for the request that enabled or deleted a subscription: it releases
	// parked deliveries, paced, and cancels waiting ones, a bounded number of each. moved is 0 once nothing is left.
	TidyDeliveries(ctx context.Context) (moved int, err error)
}
