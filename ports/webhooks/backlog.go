package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
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
var SubscriptionStates = []SubscriptionState{SubscriptionHealthy, SubscriptionSlow, SubscriptionHeld,
	SubscriptionDisabled}

// Backlog counts the work that all dispatchers have left.
type Backlog struct {
	OutboxPending   int
	OutboxOldestAge time.Duration
	OutboxSetAside  int // events that could not be filed
	Deliveries      map[BacklogState]int
	OldestDueAge    time.Duration // subscriptions whose circuit is open do not count
	OldestHeldAge   time.Duration // of subscriptions whose circuit is open
	OutboundSince   time.Time     // since when our own way out is broken (webhook.OutboundBroken); zero: it is not
	Subscriptions   map[SubscriptionState]int
	Partitions      Partitions
	Mails           MailBacklog
	Collections     CollectionBacklog
	Server          DatabaseServer
}

// CollectionBacklog counts collections by their state. The number of paid ones is an estimate once there are very many.
type CollectionBacklog struct {
	States    map[deposit.CollectionState]int
	OldestAge time.Duration // since the capture of the oldest that is neither paid nor failed
}

// MailBacklog counts the mails that are neither sent nor given up.
type MailBacklog struct {
	Pending      int
	OldestDueAge time.Duration // how long the oldest due mail has been due
}

// DatabaseServer tells the load of the database's server and the rows that vacuum has yet to remove.
type DatabaseServer struct {
	Connections    int // of all clients
	MaxConnections int // for clients without special rights
	DeadRows       map[string]int
}

// BusyTables lists the tables whose rows change all the time, as svc_pg_dead_rows labels them.
var BusyTables = []string{
	"deliveries", "deposits", "event_feeds", "idempotency_keys", "mails", "open_deposits", "outbox", "sessions",
	"waiting_counts", "webhook_subscriptions",
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
