package webhooks

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// DeliveryFilter narrows a delivery log. A zero field does not narrow the list.
type DeliveryFilter struct {
	Status    webhook.Status
	Event     webhook.EventName
	DepositID id.ID
	Created   ports.Span
}

// Deliveries adds deliveries that the relay does not make: tests and redeliveries.
type Deliveries interface {
	// InsertTest adds a test delivery, which is due at once and goes out before all others. CreatedAt is the time in
	// the id.
	InsertTest(ctx context.Context, d webhook.Delivery) error
	// TestsInFlight counts the tests of a partner that are due or dispatched, with those of the transaction. A further
	// call for the partner waits until the transaction has ended.
	TestsInFlight(ctx context.Context, partnerID id.ID) (int, error)
	// Redeliver adds a redelivery for each copy and gives the redeliveries without bodies. The first is due at once, and
	// the others follow at the pace of a replay. A copy of a
	// redelivery refers to the original; a copy of a test is a test. Redeliver skips deliveries of other subscriptions,
	// and adds none if the subscription is disabled or deleted. A lock keeps the subscription unchanged until the
	// commit.
	Redeliver(ctx context.Context, subscriptionID id.ID, copies []Redelivery) ([]webhook.Delivery, error)
	// Deliveries lists deliveries with attempts and without bodies.
	Deliveries(ctx context.Context, subscriptionID id.ID, f DeliveryFilter,
		page ports.Page) (ports.List[webhook.Delivery], error)
	// Delivery gives a delivery with body and attempts. Returns webhook.ErrDeliveryNotFound.
	Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error)
	// DeliveriesMade gives the newest deliveries of a subscription that were made in a time span, up to limit, with
	// their bodies alone.
	DeliveriesMade(ctx context.Context, subscriptionID id.ID, made ports.Span, limit int) ([]webhook.Sent, error)
	// DeliveriesAbout is DeliveriesMade for those that tell of a deposit.
	DeliveriesAbout(ctx context.Context, subscriptionID, depositID id.ID, limit int) ([]webhook.Sent, error)
	// DeliveriesOfDeposit gives up to limit deliveries of all subscriptions that tell of a deposit, newest first,
	// without bodies.
	DeliveriesOfDeposit(ctx context.Context, depositID id.ID, limit int) ([]webhook.Delivery, error)
	// DeliveriesOfEvent gives the deliveries of an event, oldest first, without bodies. Redeliveries of an event
	// without a deposit are not found.
	DeliveriesOfEvent(ctx context.Context, e EventView) ([]webhook.Delivery, error)
	// FindDelivery gives a delivery of any subscription, with its attempts. Returns webhook.ErrDeliveryNotFound.
	FindDelivery(ctx context.Context, deliveryID id.ID) (webhook.Delivery, error)
	// LastDeliveries gives the newest deliveries of a subscription, up to limit, without bodies.
	LastDeliveries(ctx context.Context, subscriptionID id.ID, limit int) ([]webhook.Delivery, error)
}
