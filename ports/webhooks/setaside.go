package webhooks

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Errors about events that were set aside because the database refused them. No caller of the API sees them.
var (
	// ErrEventNotSetAside is the error for an event id that is not among the events that were set aside.
	ErrEventNotSetAside = errors.New("ports: the event is not set aside")
)

// SetAsideEventRecord is an event that was set aside because the database refused it (delivery.md, point 10).
type SetAsideEventRecord struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // The deposit that the event is about; zero for rental_operator.linked.
	CreatedAt time.Time
	At        time.Time
	Reason    string
}

// SetAsideEventStore reads the events that were set aside, as the database refused them, and puts them back or deletes
// them.
type SetAsideEventStore interface {
	SetAsideEvents(ctx context.Context, limit int) ([]SetAsideEventRecord, error)
	// Retry moves an event that was set aside back to the outbox, where a dispatcher finds it, and returns the
	// event.
	//
	// Returns ErrEventNotSetAside.
	Retry(ctx context.Context, eventID id.ID) (SetAsideEventRecord, error)
	// Drop deletes an event that was set aside, and returns the event.
	//
	// Returns ErrEventNotSetAside.
	Drop(ctx context.Context, eventID id.ID) (SetAsideEventRecord, error)
}
