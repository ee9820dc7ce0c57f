package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// SubscriptionRepository writes webhook subscriptions. Deleted ones are gone for every method.
type SubscriptionRepository interface {
	// Insert adds a subscription. Returns webhook.ErrLimitReached, also under concurrent inserts.
	Insert(ctx context.Context, s webhook.Subscription, key secret.Text) error
	// ForUpdate locks and loads a partner's subscription. Returns webhook.ErrNotFound.
	ForUpdate(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	// Update stores url, events, enabled and reason. Enabling also ends its failure history and makes its parked
	// deliveries due again, paced.
	Update(ctx context.Context, s webhook.Subscription) error
	// SetSecret replaces the secret; every POST begun after the commit is signed with it.
	SetSecret(ctx context.Context, subscriptionID id.ID, key secret.Text) error
	// Delete ends the subscription and cancels what has not been delivered.
	Delete(ctx context.Context, subscriptionID id.ID, at time.Time) error
}

// SubscriptionReader reads subscriptions outside transactions.
type SubscriptionReader interface {
	// Subscription returns webhook.ErrNotFound.
	Subscription(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	Subscriptions(ctx context.Context, partnerID id.ID, page Page) (List[webhook.Subscription], error)
}

// DeliveryRepository adds deliveries that do not come from the relay.
type DeliveryRepository interface {
	// InsertTest adds a test delivery, due at once and ahead of the line. It was created at the time that its id tells.
	InsertTest(ctx context.Context, d webhook.Delivery) error
}

// DeliveryFilter narrows a delivery log; zero fields do not narrow.
type DeliveryFilter struct {
	Status    webhook.Status
	Event     webhook.EventName
	DepositID id.ID
	Created   Span
}

// DeliveryReader reads the delivery log. Whether the subscription is the caller's has been checked.
type DeliveryReader interface {
	// Deliveries lists records with their attempts and without bodies.
	Deliveries(ctx context.Context, subscriptionID id.ID, f DeliveryFilter, page Page) (List[webhook.Delivery], error)
	// Delivery gives one record with body and attempts. Returns webhook.ErrDeliveryNotFound.
	Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error)
}

// TargetCheck tells at subscription time what the sender would refuse when it dials.
type TargetCheck interface {
	// Check resolves host and returns invalid_field for an address that is not public. A name that does not resolve
	// passes: it may resolve tomorrow, and the sender looks again.
	Check(ctx context.Context, host string) error
}
