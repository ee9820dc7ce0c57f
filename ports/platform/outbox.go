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
	PartnerID id.ID
	// The most specific name of the event; a subscription without that name may get the event as
	// deposit.status_changed.
	Name      webhook.EventName
	DepositID id.ID // The deposit that the event is about; zero for rental_operator.linked.
	Data      []byte
	CreatedAt time.Time
	// CommittedAt is when the change committed, by the database's clock, which sets it; latency is measured from
	// this time.
	CommittedAt time.Time
	// The number of the event in its partner's feed of events, assigned after the commit by the relay.
	Sequence int64
	// TraceParent is the span of the change, as a W3C traceparent; "" without traces. RequestID is the id of the
	// request that made the change; "" for none.
	TraceParent, RequestID string
}

// Doorbell wakes the dispatchers after a commit. A wake-up notification may be late or lost. Sending one
// neither fails nor waits.
type Doorbell interface {
	WakeRelays()
	WakeScans()
}

// Outbox stores events in the transaction of the change that caused them, until a dispatcher makes deliveries
// of them.
type Outbox interface {
	Append(ctx context.Context, e Event) error
}
