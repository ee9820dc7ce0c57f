package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
)

// PendingDeliveryState is the state of a delivery that has neither succeeded nor failed, as the label of
// svc_webhook_deliveries_pending.
type PendingDeliveryState string

// The states of deliveries that have neither succeeded nor failed, for a metric.
const (
	PendingDeliveryWaiting    PendingDeliveryState = "waiting"
	PendingDeliveryDispatched PendingDeliveryState = "dispatched"
	PendingDeliveryParked     PendingDeliveryState = "parked"
)

// PendingDeliveryStates lists the states of deliveries that have neither succeeded nor failed, for a metric.
var PendingDeliveryStates = []PendingDeliveryState{PendingDeliveryWaiting, PendingDeliveryDispatched,
	PendingDeliveryParked}

// SubscriptionState is the health of a subscription, as the label of svc_webhook_subscriptions.
type SubscriptionState string

// The health states of a webhook subscription; if several apply, the worst counts.
const (
	SubscriptionHealthy SubscriptionState = "healthy"
	SubscriptionSlow    SubscriptionState = "slow"
	// The circuit of the subscription's endpoint is open or half-open.
	SubscriptionHeld     SubscriptionState = "held"
	SubscriptionDisabled SubscriptionState = "disabled"
)

// SubscriptionStates lists the health states of a subscription.
var SubscriptionStates = []SubscriptionState{SubscriptionHealthy, SubscriptionSlow, SubscriptionHeld,
	SubscriptionDisabled}

// Backlog counts the events and deliveries that wait for the dispatchers.
type Backlog struct {
	OutboxPending   int
	OutboxOldestAge time.Duration
	OutboxSetAside  int
	Deliveries      map[PendingDeliveryState]int
	// How late the most overdue delivery is, without the subscriptions whose circuit is open.
	OldestDueAge time.Duration
	// How late the most overdue delivery is, of the subscriptions whose circuit is open.
	OldestHeldAge time.Duration
	// Since when the outbound network of this service is broken (webhook.OutboundBroken); zero: it is not.
	OutboundSince time.Time
	Subscriptions map[SubscriptionState]int
	Partitions    PartitionStatus
	Mails         MailBacklog
	Collections   CollectionBacklog
	Server        DatabaseServerLoad
}

// CollectionBacklog counts collections (charges of captured amounts) by their state. The number of paid ones is
// an estimate once there are very many.
type CollectionBacklog struct {
	States    map[deposit.CollectionState]int
	OldestAge time.Duration // The time since the capture of the oldest collection that is neither paid nor failed.
}

// MailBacklog counts the mails that are neither sent nor given up.
type MailBacklog struct {
	Pending      int
	OldestDueAge time.Duration
}

// DatabaseServerLoad measures the load of the database's server and the rows that vacuum has yet to remove.
type DatabaseServerLoad struct {
	Connections    int
	MaxConnections int // The largest number of connections of clients without special rights.
	DeadRows       map[string]int
}

// FrequentlyUpdatedTables lists the database tables whose rows change all the time, as labels of svc_pg_dead_rows.
var FrequentlyUpdatedTables = []string{
	"deliveries", "deposits", "event_feeds", "idempotency_keys", "mails", "open_deposits", "outbox", "sessions",
	"waiting_counts", "webhook_subscriptions",
}

// PartitionStatus reports for how many days ahead the tables of events and attempts have their daily partitions.
type PartitionStatus struct {
	DaysAhead   int
	DefaultRows int
}

// BacklogReader counts the events, deliveries and other work that waits for the dispatchers. Large counts are
// estimates, so the cost is bounded.
type BacklogReader interface {
	Backlog(ctx context.Context) (Backlog, error)
}
