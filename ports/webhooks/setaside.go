package webhooks

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Errors about events that are set aside. No caller of the API sees them.
var (
	// ErrNotSetAside is the error for an event id under which no event is set aside.
	ErrNotSetAside = errors.New("ports: the event is not set aside")
)

// SetAsideEvent is an event that the relay could not file (delivery.md, point 10).
type SetAsideEvent struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // The deposit that the event is about; zero for rental_operator.linked.
	CreatedAt time.Time
	At        time.Time // The time at which the event was set aside.
	Reason    string    // Why the event was set aside, in the words of the database.
}

// SetAside reads and ends events that are set aside.
type SetAside interface {
	// SetAsideEvents returns up to limit events that are set aside, oldest first.
	SetAsideEvents(ctx context.Context, limit int) ([]SetAsideEvent, error)
	// Retry moves an event that was set aside back to the outbox, and returns the event.
	//
	// Returns ErrNotSetAside.
	Retry(ctx context.Context, eventID id.ID) (SetAsideEvent, error)
	// Drop deletes an event that was set aside, and returns the event.
	//
	// Returns ErrNotSetAside.
	Drop(ctx context.Context, eventID id.ID) (SetAsideEvent, error)
}
