package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
)

// BacklogState is the state of a delivery that has not ended, as the label of svc_webhook_deliveries_pending.
type BacklogState string

// The states of deliveries that have not ended.
const (
	BacklogWaiting    BacklogState = "waiting"    // The deliveries that are not claimed.
	BacklogDispatched BacklogState = "dispatched" // The deliveries that are claimed.
	BacklogParked     BacklogState = "parked"     // The deliveries whose subscription is disabled.
)

// BacklogStates lists the states of deliveries that have not ended.
var BacklogStates = []BacklogState{BacklogWaiting, BacklogDispatched, BacklogParked}

// SubscriptionState is the health of a subscription, as the label of svc_webhook_subscriptions.
type SubscriptionState string

// The health states of a subscription; if several apply, it has the worst.
const (
	SubscriptionHealthy SubscriptionState = "healthy"
	SubscriptionSlow    SubscriptionState = "slow" // The subscription's deliveries go through the slow lane.
	// The circuit of the subscription's endpoint is open or half-open.
	SubscriptionHeld SubscriptionState = "held"
	// The subscription was disabled by the partner, or after webhook.DisableAfter of failures.
	SubscriptionDisabled SubscriptionState = "disabled"
)

// SubscriptionStates lists the health states of a subscription.
var SubscriptionStates = []SubscriptionState{SubscriptionHealthy, SubscriptionSlow, SubscriptionHeld,
	SubscriptionDisabled}

// Backlog counts the work that waits for all dispatchers.
type Backlog struct {
	OutboxPending   int
	OutboxOldestAge time.Duration
	OutboxSetAside  int // The number of events that could not be filed and are set aside.
	Deliveries      map[BacklogState]int
	// How long the oldest due delivery has been due; subscriptions whose circuit is open do not count.
	OldestDueAge time.Duration
	// How long the oldest due delivery of the subscriptions whose circuit is open has been due.
	OldestHeldAge time.Duration
	// Since when the outbound network of this service is broken (webhook.OutboundBroken); zero: it is not.
	OutboundSince time.Time
	Subscriptions map[SubscriptionState]int
	Partitions    Partitions
	Mails         MailBacklog
	Collections   CollectionBacklog
	Server        DatabaseServer
}

// CollectionBacklog counts collections by their state. The number of paid ones is an estimate once there are very
// many.
type CollectionBacklog struct {
	States    map[deposit.CollectionState]int
	OldestAge time.Duration // The time since the capture of the oldest collection that is neither paid nor failed.
}

// MailBacklog counts the mails that are neither sent nor given up.
type MailBacklog struct {
	Pending      int
	OldestDueAge time.Duration // How long the oldest due mail has been due.
}

// DatabaseServer measures the load of the database's server and the rows that vacuum has yet to remove.
type DatabaseServer struct {
	Connections    int // The connections of all clients to the database's server.
	MaxConnections int // The largest number of connections of clients without special rights.
	DeadRows       map[string]int
}

// BusyTables lists the database tables whose rows change all the time, as labels of svc_pg_dead_rows.
var BusyTables = []string{
	"deliveries", "deposits", "event_feeds", "idempotency_keys", "mails", "open_deposits", "outbox", "sessions",
	"waiting_counts", "webhook_subscriptions",
}

// Partitions reports how far ahead the daily partitions of events and attempts reach.
type Partitions struct {
	DaysAhead   int // The full days after today that have their partitions; -1: today has none.
	DefaultRows int // The rows that are in a default partition, since their day has no partition.
}

// BacklogReader counts the work that waits for the dispatchers. Large counts are estimates, so the cost is
// bounded.
type BacklogReader interface {
	Backlog(ctx context.Context) (Backlog, error)
}
