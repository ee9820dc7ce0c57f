package ports

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
	// CommittedAt is the time of the change by the database's clock; latency counts from here. The database sets CommittedAt,
	// and the relay reads the value.
	CommittedAt time.Time
}

// Outbox stores events in the transaction of their change.
type Outbox interface {
	// Append stores the event. The relay finds the event after the commit.
	Append(ctx context.Context, e Event) error
}

// Doorbell wakes the relay of a dispatcher after a commit. A ring is a hint that may be late or lost. Ring neither fails nor
// waits.
type Doorbell interface {
	Ring()
}
