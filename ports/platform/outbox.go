package platform

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Event is a fact about a change, such as a deposit's transition, for the subscriptions of a partner. An event
// never changes after its commit.
type Event struct {
	ID        id.ID
	PartnerID id.ID // The partner whose subscriptions receive the event.
	// The most specific name of the event; a subscription without that name may get the event as
	// deposit.status_changed.
	Name      webhook.EventName
	DepositID id.ID  // The deposit that the event is about; zero for rental_operator.linked.
	Data      []byte // The data of the event as JSON, sent to partners unchanged.
	CreatedAt time.Time
	// CommittedAt is when the change committed, by the database's clock, which sets it; latency is measured from
	// this time.
	CommittedAt time.Time
	// Sequence is the number of the event in the feed (the numbered list of a partner's events). It is assigned
	// after the commit, by the relay.
	Sequence int64
	// TraceParent is the span of the change, as a W3C traceparent; "" without traces. RequestID is the id of the
	// request that made the change; "" for a change by a timer or an admin command. The outbox sets both fields.
	TraceParent, RequestID string
}

// Doorbell wakes the dispatchers after a commit. A wake-up notification may be late or lost. Sending one
// neither fails nor waits.
type Doorbell interface {
	// WakeRelays notifies the dispatchers that events were committed, of which they make deliveries.
	WakeRelays()
	// WakeScans notifies the dispatchers that deliveries became due.
	WakeScans()
}

// Outbox stores events in the transaction of the change that caused them, until a dispatcher makes deliveries
// of them.
type Outbox interface {
	// Append stores an event. A dispatcher finds the event after the commit.
	Append(ctx context.Context, e Event) error
}
