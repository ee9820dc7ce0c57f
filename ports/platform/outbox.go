package platform

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Event is a fact about a change, for the subscriptions of a partner. An event never changes after the commit.
type Event struct {
	ID        id.ID
	PartnerID id.ID             // whose subscriptions receive the event
	Name      webhook.EventName // the most specific name; routing may fall back to deposit.status_changed
	DepositID id.ID             // zero for rental_operator.linked
	Data      []byte            // JSON, sent unchanged
	CreatedAt time.Time
	// CommittedAt is the time of the change by the database's clock; latency counts from here. The database sets
	// CommittedAt, and the relay reads the value.
	CommittedAt time.Time
	// Sequence is the number of the event in the feed of its partner. The relay gives the number.
	Sequence int64
	// TraceParent is the span of the change, as a W3C traceparent; "" without traces. RequestID is the request that
	// made the change; "" for a change by a timer or an admin command. The outbox sets both fields.
	TraceParent, RequestID string
}

// Doorbell wakes the dispatchers after a commit. A ring is a hint that may be late or lost. Ringing neither fails nor
// waits.
type Doorbell interface {
	// Ring tells the relays that events were committed.
	Ring()
	// RingDue tells the scans that deliveries became due.
	RingDue()
}

// Outbox stores events in the transaction of their change.
type Outbox interface {
	// Append stores the event. The relay finds the event after the commit.
	Append(ctx context.Context, e Event) error
}
