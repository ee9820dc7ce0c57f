package webhooks

import (
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// EventPlace is where an event is on its way to the subscriptions (delivery.md, point 2).
type EventPlace string

// The places of an event on its way to the subscriptions.
const (
	EventOnOutbox EventPlace = "outbox"    // The event is on the outbox; no relay has taken it.
	EventSetAside EventPlace = "set_aside" // The relay could not file the event.
	EventFiled    EventPlace = "filed"     // The relay has filed the event, and its deliveries exist.
)

// EventView is an event without its data.
type EventView struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // The deposit that the event is about; zero for rental_operator.linked.
	CreatedAt time.Time
	Place     EventPlace
	Reason    string // Why the event was set aside; "" otherwise.
}

// SubscriptionView is a subscription with the health of its endpoint.
type SubscriptionView struct {
	webhook.Subscription
	DeletedAt time.Time // The time of the subscription's deletion; zero: it is not deleted.
	Failures  int       // The number of consecutive failed attempts.
	// Since when the endpoint has failed; zero: the last attempt succeeded, or there was none.
	FailingSince time.Time
	HeldUntil    time.Time // Until when the open circuit holds deliveries back; zero: the circuit is closed.
	Slow         bool      // true: the deliveries go through the slow lane; false: through the fast lane.
}
