package webhooks

import (
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// EventPlace is where an event stands on its way to the subscriptions (delivery.md, point 2).
type EventPlace string

// The places of an event.
const (
	EventOnOutbox EventPlace = "outbox"    // no relay has taken the event
	EventSetAside EventPlace = "set_aside" // the relay could not file the event
	EventFiled    EventPlace = "filed"     // the event has its deliveries
)

// EventView is an event without its data.
type EventView struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // zero for rental_operator.linked
	CreatedAt time.Time
	Place     EventPlace
	Reason    string // why the event was set aside; "" otherwise
}

// SubscriptionView is a subscription with the record of its endpoint.
type SubscriptionView struct {
	webhook.Subscription
	DeletedAt    time.Time // zero: not deleted
	Failures     int       // consecutive failed attempts
	FailingSince time.Time // zero: the last attempt succeeded, or there was none
	HeldUntil    time.Time // zero: the circuit is closed
	Slow         bool      // deliveries go through the slow lane
}
