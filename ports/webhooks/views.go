package webhooks

import (
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// EventStage says how far an event has come on its way to the subscriptions (delivery.md, point 2).
type EventStage string

// The stations of an event on its way to the subscriptions.
const (
	StageInOutbox EventStage = "outbox"
	// The event was set aside because the database refused it.
	StageSetAside EventStage = "set_aside"
	StageInFeed   EventStage = "filed"
)

// EventView is an event without its data.
type EventView struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // The deposit that the event is about; zero for rental_operator.linked.
	CreatedAt time.Time
	Place     EventStage
	Reason    string // Why the event was set aside; "": it was not.
}

// SubscriptionView is a subscription with the health of its endpoint.
type SubscriptionView struct {
	webhook.Subscription
	DeletedAt time.Time // The time of the subscription's deletion; zero: it is not deleted.
	Failures  int
	// Since when the endpoint has failed; zero: the last attempt succeeded, or there was none.
	FailingSince time.Time
	// Until when the open circuit of the endpoint holds deliveries back; zero: the circuit is not open.
	HeldUntil time.Time
	Slow      bool
}
