package webhooks

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// DeliveryFilter narrows the list of a subscription's deliveries. A zero field does not narrow the list.
type DeliveryFilter struct {
	Status    webhook.DeliveryStatus
	Event     webhook.EventName
	DepositID id.ID
	Created   ports.TimeSpan
}

// DeliveryStore reads the deliveries of webhooks, and adds those that do not follow from a new event: tests and
// redeliveries.
type DeliveryStore interface {
	// InsertTest stores a test delivery, which is due at once and is sent before all others. Its CreatedAt is the
	// time in its id.
	InsertTest(ctx context.Context, d webhook.Delivery) error
	// CountTestsInFlight counts the test deliveries of a partner that are due or being sent, including those of the
	// transaction.
	CountTestsInFlight(ctx context.Context, partnerID id.ID) (int, error)
	// InsertRedeliveries stores a redelivery for each of the copies and returns the redeliveries without bodies: the
	// first due at once, the others at the pace of a replay. It skips deliveries of other subscriptions, and stores
	// none if the subscription is disabled or deleted.
	InsertRedeliveries(ctx context.Context, subscriptionID id.ID, copies []Redelivery) ([]webhook.Delivery, error)
	// Deliveries lists the deliveries of a subscription with attempts and without bodies.
	Deliveries(ctx context.Context, subscriptionID id.ID, f DeliveryFilter,
		page ports.Page) (ports.ListPage[webhook.Delivery], error)
	// Delivery returns a delivery with body and attempts, or webhook.ErrDeliveryNotFound.
	Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error)
	BodiesMadeDuring(ctx context.Context, subscriptionID id.ID, made ports.TimeSpan, limit int) ([]webhook.SentDelivery,
		error)
	// BodiesAboutDeposit returns the newest deliveries of a subscription that are about a deposit, up to limit; of
	// their fields only the bodies are set.
	BodiesAboutDeposit(ctx context.Context, subscriptionID, depositID id.ID, limit int) ([]webhook.SentDelivery, error)
	DeliveriesOfDeposit(ctx context.Context, depositID id.ID, limit int) ([]webhook.Delivery, error)
	// DeliveriesOfEvent returns the deliveries of an event, oldest first, without bodies. Redeliveries of an event
	// without a deposit are not found.
	DeliveriesOfEvent(ctx context.Context, e EventView) ([]webhook.Delivery, error)
	FindDelivery(ctx context.Context, deliveryID id.ID) (webhook.Delivery, error)
	LastDeliveries(ctx context.Context, subscriptionID id.ID, limit int) ([]webhook.Delivery, error)
}
