package webhooks

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Errors of these ports. No caller of the API sees them.
var (
	// ErrNotSetAside: no event with the id is set aside.
	ErrNotSetAside = errors.New("ports: the event is not set aside")
)

// SetAsideEvent is an event that the relay could not file (delivery.md, point 10).
type SetAsideEvent struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // zero for rental_operator.linked
	CreatedAt time.Time
	At        time.Time // when the event was set aside
	Reason    string    // why, in the words of the database
}

// SetAside lists the events that are set aside.
type SetAside interface {
	// SetAsideEvents gives up to limit events, oldest first.
	SetAsideEvents(ctx context.Context, limit int) ([]SetAsideEvent, error)
	// Retry moves an event that was set aside back to the outbox, and gives what was known of it.
	//
	// Returns ErrNotSetAside.
	Retry(ctx context.Context, eventID id.ID) (SetAsideEvent, error)
	// Drop deletes an event that was set aside, and gives what was known of it.
	//
	// Returns ErrNotSetAside.
	Drop(ctx context.Context, eventID id.ID) (SetAsideEvent, error)
}
