package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Event is a fact that partners may hear of, fixed when the change commits.
type Event struct {
	ID        id.ID
	PartnerID id.ID             // who may hear of it
	Name      webhook.EventName // the most specific one; routing may fall back to deposit.status_changed
	DepositID id.ID             // zero for rental_operator.linked
	Data      []byte            // JSON, sent as it is
	CreatedAt time.Time
	// CommittedAt is the database's time of the change; it is set when the relay reads the event, and latency counts from it.
	CommittedAt time.Time
}

// Outbox is written with the change it tells of.
type Outbox interface {
	// Append stores the event and puts it before the relay.
	Append(ctx context.Context, e Event) error
}

// Doorbell wakes the relay of any dispatcher after a commit. It is a hint that may be lost or be late; it never fails
// and never waits.
type Doorbell interface {
	Ring()
}
