package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// TargetHostChecker refuses, when a partner creates or changes a subscription, a host that the sender of webhooks
// would not connect to.
type TargetHostChecker interface {
	// CheckHost resolves a host and returns invalid_field if one of its addresses is not public. A name that does not
	// resolve passes, since the name may resolve later and the sender checks every address.
	CheckHost(ctx context.Context, host string) error
}

// SubscriptionStore stores webhook subscriptions.
type SubscriptionStore interface {
	// Insert stores a new subscription. Returns webhook.ErrSubscriptionLimitReached; concurrent inserts cannot exceed the
	// limit.
	Insert(ctx context.Context, s webhook.Subscription, key secret.Text) error
	LockRow(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	// LockRowShared returns a subscription of a partner under a shared lock, which keeps it from being changed or
	// deleted before the transaction ends. Returns webhook.ErrNotFound.
	LockRowShared(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	// Update stores URL, Events, Enabled and DisabledReason of a subscription. Enabling also resets the health,
	// and makes deliveries that waited meanwhile due again, releasePerSecond of them in each second.
	Update(ctx context.Context, s webhook.Subscription, releasePerSecond int) error
	// SetSigningSecret replaces the signing secret of a subscription. Every POST that begins after the commit is signed
	// with the new secret.
	SetSigningSecret(ctx context.Context, subscriptionID id.ID, key secret.Text) error
	Delete(ctx context.Context, subscriptionID id.ID, at time.Time) error
	// Subscription returns a subscription of a partner, or webhook.ErrNotFound.
	Subscription(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error)
	// SubscriptionByID returns a subscription of any partner, for the admin commands, or webhook.ErrNotFound.
	SubscriptionByID(ctx context.Context, subscriptionID id.ID) (webhook.Subscription, error)
	Subscriptions(ctx context.Context, partnerID id.ID, page ports.Page) (ports.ListPage[webhook.Subscription], error)
	// HealthReports returns subscriptions with the health of their endpoints, in the same order.
	HealthReports(ctx context.Context, of []webhook.Subscription) ([]webhook.SubscriptionWithReport, error)
	// FindSubscription returns a subscription, deleted ones too, or webhook.ErrNotFound.
	FindSubscription(ctx context.Context, subscriptionID id.ID) (SubscriptionView, error)
}
