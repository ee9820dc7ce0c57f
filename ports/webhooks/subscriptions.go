package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

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
	// Hold gives a subscription of a partner, which nobody changes or deletes before the transaction ends. Relays and
	// other holders do not wait for it. Returns webhook.ErrNotFound.
	Hold(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
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
	Subscriptions(ctx context.Context, partnerID id.ID, page ports.Page) (ports.List[webhook.Subscription], error)
	// Reports gives subscriptions with the health of their endpoints, in the same order. Enabled and DisabledReason are
	// those of the moment of the report.
	Reports(ctx context.Context, of []webhook.Subscription) ([]webhook.Reported, error)
	// FindSubscription gives a subscription, deleted ones too. Returns webhook.ErrNotFound.
	FindSubscription(ctx context.Context, subscriptionID id.ID) (SubscriptionView, error)
}
