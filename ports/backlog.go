package ports

import (
	"context"
	"time"
)

// BacklogState tells apart deliveries that are not finished.
type BacklogState string

// The states of the backlog, as svc_webhook_deliveries_pending names them.
const (
	BacklogWaiting    BacklogState = "waiting"    // for its time, or for room
	BacklogDispatched BacklogState = "dispatched" // with a worker, or on the way to one
	BacklogParked     BacklogState = "parked"     // its endpoint is disabled
)

// BacklogStates lists them all.
var BacklogStates = []BacklogState{BacklogWaiting, BacklogDispatched, BacklogParked}

// SubscriptionState tells apart endpoints by their health, as svc_webhook_subscriptions names them.
type SubscriptionState string

// The states of a subscription, the worst one counting.
const (
	SubscriptionHealthy  SubscriptionState = "healthy"
	SubscriptionSlow     SubscriptionState = "slow"     // in the slow lane
	SubscriptionHeld     SubscriptionState = "held"     // keeps failing and is probed
	SubscriptionDisabled SubscriptionState = "disabled" // by its partner, or by five days of failures
)

// SubscriptionStates lists them all.
var SubscriptionStates = []SubscriptionState{SubscriptionHealthy, SubscriptionSlow, SubscriptionHeld, SubscriptionDisabled}

// Backlog is what waits to be delivered, over all dispatchers.
type Backlog struct {
	OutboxPending   int
	OutboxOldestAge time.Duration
	Deliveries      map[BacklogState]int
	OldestDueAge    time.Duration // endpoints that are held back do not count
	Subscriptions   map[SubscriptionState]int
}

// BacklogReader counts the backlog. Its cost is bounded however much there is: large counts are estimates.
type BacklogReader interface {
	Backlog(ctx context.Context) (Backlog, error)
}
