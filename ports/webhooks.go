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
	// SubscriptionByID is for our own operators, who look at any partner's. Returns webhook.ErrNotFound.
	SubscriptionByID(ctx context.Context, subscriptionID id.ID) (webhook.Subscription, error)
	Subscriptions(ctx context.Context, partnerID id.ID, page Page) (List[webhook.Subscription], error)
}

// DeliveryRepository adds deliveries that do not come from the relay.
type DeliveryRepository interface {
	// InsertTest adds a test delivery, due at once and ahead of the line. It was created at the time that its id tells.
	InsertTest(ctx context.Context, d webhook.Delivery) error
	// Redeliver adds a delivery of the same bytes for each copy, due at once, and gives them without their bodies. A copy of
	// a redelivery is one of its original; a copy of a test is a test. Deliveries that the subscription does not have are
	// passed over, and nothing is added while it is disabled or once it is deleted, which a lock holds until the commit.
	Redeliver(ctx context.Context, subscriptionID id.ID, copies []Copy) ([]webhook.Delivery, error)
}

// Copy names a delivery and the redelivery to make of it, created at the time that its id tells.
type Copy struct{ Of, As id.ID }

// ReplayRepository keeps replays.
type ReplayRepository interface {
	// Insert adds a replay that has not begun.
	Insert(ctx context.Context, r webhook.Replay) error
	// Next locks a replay whose next step may be made at now, and which no other dispatcher holds; ok is false where there
	// is none. Of a subscription's replays the oldest goes first; while the subscription is disabled, they wait.
	Next(ctx context.Context, now time.Time) (r webhook.Replay, ok bool, err error)
	// Matching lists up to limit deliveries beyond the replay's cursor that it would repeat now, the oldest first; none
	// once the subscription is deleted.
	Matching(ctx context.Context, r webhook.Replay, limit int) ([]id.ID, error)
	// Update stores how far the replay has come, unless somebody else has moved it on from before meanwhile.
	Update(ctx context.Context, before, after webhook.Replay) error
	// DeleteFinished removes up to limit replays that are finished and were asked for before at.
	DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error)
}

// ReplayReader looks at replays outside transactions.
type ReplayReader interface {
	// CountMatching counts the deliveries that the replay would repeat now.
	CountMatching(ctx context.Context, r webhook.Replay) (int, error)
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
