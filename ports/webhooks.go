package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// Copy names a delivery, Of, and the id of the redelivery to make, As. CreatedAt of the redelivery is the time in As.
type Copy struct{ Of, As id.ID }

// DeliveryFilter narrows a delivery log. A zero field does not narrow the list.
type DeliveryFilter struct {
	Status    webhook.Status
	Event     webhook.EventName
	DepositID id.ID
	Created   Span
}

// TargetCheck refuses, when a subscription is created or changed, an address that the sender would refuse to dial.
type TargetCheck interface {
	// Check resolves host and returns invalid_field for an address that is not public. A name that does not resolve
	// passes, since the name may resolve later and the sender checks every address.
	Check(ctx context.Context, host string) error
}

// Subscriptions writes subscriptions. No method finds a deleted subscription.
type Subscriptions interface {
	// Insert adds a subscription. Returns webhook.ErrLimitReached, which concurrent inserts cannot evade.
	Insert(ctx context.Context, s webhook.Subscription, key secret.Text) error
	// ForUpdate locks and gives a subscription of a partner. Returns webhook.ErrNotFound.
	ForUpdate(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	// Update stores URL, Events, Enabled and DisabledReason. Enabling also resets the health and makes parked
	// deliveries due again, releasePerSecond of them in each second.
	Update(ctx context.Context, s webhook.Subscription, releasePerSecond int) error
	// SetSecret replaces the signing secret. Every POST that begins after the commit is signed with the new secret.
	SetSecret(ctx context.Context, subscriptionID id.ID, key secret.Text) error
	// Delete ends a subscription and cancels the deliveries that have not succeeded.
	Delete(ctx context.Context, subscriptionID id.ID, at time.Time) error
	// Subscription returns webhook.ErrNotFound.
	Subscription(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	// SubscriptionByID finds a subscription of any partner, for the admin commands. Returns webhook.ErrNotFound.
	SubscriptionByID(ctx context.Context, subscriptionID id.ID) (webhook.Subscription, error)
	Subscriptions(ctx context.Context, partnerID id.ID, page Page) (List[webhook.Subscription], error)
	// Reports gives subscriptions with the health of their endpoints, in the same order. Enabled and DisabledReason are
	// those of the moment of the report.
	Reports(ctx context.Context, of []webhook.Subscription) ([]webhook.Reported, error)
	// FindSubscription gives a subscription, deleted ones too. Returns webhook.ErrNotFound.
	FindSubscription(ctx context.Context, subscriptionID id.ID) (SubscriptionView, error)
}

// Deliveries adds deliveries that the relay does not make: tests and redeliveries.
type Deliveries interface {
	// InsertTest adds a test delivery, which is due at once and goes out before all others. CreatedAt is the time in
	// the id.
	InsertTest(ctx context.Context, d webhook.Delivery) error
	// Redeliver adds a redelivery for each copy, due at once, and gives the redeliveries without bodies. A copy of a
	// redelivery refers to the original; a copy of a test is a test. Redeliver skips deliveries of other subscriptions,
	// and adds none if the subscription is disabled or deleted. A lock keeps the subscription unchanged until the
	// commit.
	Redeliver(ctx context.Context, subscriptionID id.ID, copies []Copy) ([]webhook.Delivery, error)
	// Deliveries lists deliveries with attempts and without bodies.
	Deliveries(ctx context.Context, subscriptionID id.ID, f DeliveryFilter, page Page) (List[webhook.Delivery], error)
	// Delivery gives a delivery with body and attempts. Returns webhook.ErrDeliveryNotFound.
	Delivery(ctx context.Context, subscriptionID, deliveryID id.ID) (webhook.Delivery, error)
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

// Replays writes replays.
type Replays interface {
	// Insert adds a new replay.
	Insert(ctx context.Context, r webhook.Replay) error
	// Next locks and gives a replay that may make a step at now and is not locked by another dispatcher; ok is false if
	// there is none. The replays of a subscription run in order of age, and wait while the subscription is disabled.
	Next(ctx context.Context, now time.Time) (r webhook.Replay, ok bool, err error)
	// Matching lists up to limit deliveries after the replay's cursor that match the replay, oldest first; none if the
	// subscription is deleted.
	Matching(ctx context.Context, r webhook.Replay, limit int) ([]id.ID, error)
	// Update stores the progress of a replay, unless another dispatcher has stored progress since before was read.
	Update(ctx context.Context, before, after webhook.Replay) error
	// DeleteFinished removes up to limit finished replays that were created before at, and returns the number.
	DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error)
	// Replay returns webhook.ErrReplayNotFound.
	Replay(ctx context.Context, replayID id.ID) (webhook.Replay, error)
	// CountMatching counts the deliveries that match the replay at present.
	CountMatching(ctx context.Context, r webhook.Replay) (int, error)
}
