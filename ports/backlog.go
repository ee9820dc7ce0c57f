package ports

import (
	"context"
	"time"
)

// BacklogState is the state of a delivery that has not ended, as svc_webhook_deliveries_pending labels it.
type BacklogState string

// The states of the backlog.
const (
	BacklogWaiting    BacklogState = "waiting"    // not claimed
	BacklogDispatched BacklogState = "dispatched" // claimed
	BacklogParked     BacklogState = "parked"     // the subscription is disabled
)

// BacklogStates lists the states of the backlog.
var BacklogStates = []BacklogState{BacklogWaiting, BacklogDispatched, BacklogParked}

// SubscriptionState is the health of a subscription, as svc_webhook_subscriptions labels it.
type SubscriptionState string

// The states of a subscription; the worst applies.
const (
	SubscriptionHealthy  SubscriptionState = "healthy"
	SubscriptionSlow     SubscriptionState = "slow"     // in the slow lane
	SubscriptionHeld     SubscriptionState = "held"     // the circuit is open or half-open
	SubscriptionDisabled SubscriptionState = "disabled" // by the partner, or after webhook.DisableAfter of failures
)

// SubscriptionStates lists the states of a subscription.
var SubscriptionStates = []SubscriptionState{SubscriptionHealthy, SubscriptionSlow, SubscriptionHeld, SubscriptionDisabled}

// Backlog counts the work that all dispatchers have left.
type Backlog struct {
	OutboxPending   int
	OutboxOldestAge time.Duration
	OutboxSetAside  int // events that could not be filed
	Deliveries      map[BacklogState]int
	OldestDueAge    time.Duration // subscriptions whose circuit is open do not count
	Subscriptions   map[SubscriptionState]int
	Partitions      Partitions
}

// Partitions tells how far ahead the daily partitions of events and attempts reach.
type Partitions struct {
	DaysAhead   int // full days after today that have their partitions; -1: today has none
	DefaultRows int // rows without a partition of their day, in the default partitions
}

// BacklogReader counts the backlog. Large counts are estimates, so the cost is bounded.
type BacklogReader interface {
	Backlog(ctx context.Context) (Backlog, error)
}
