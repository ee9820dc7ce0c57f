// Package webhooks holds the use cases about subscriptions, their delivery log, redeliveries and replays, and
// about events that were set aside because the database refused to store them.
package webhooks

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

type Deps struct {
	UnitOfWork    ports.UnitOfWork
	Idempotent    *idempotent.Executor
	Subscriptions webhookports.SubscriptionStore
	Prober        webhookports.EndpointProber
	Connect       ports.ConnectSecretReader
	Signing       ports.SigningSecretReader
	Audit         ports.AuditLog
	Deliveries    webhookports.DeliveryStore
	Replays       webhookports.ReplayStore
	SetAside      webhookports.SetAsideEventStore
	Targets       webhookports.TargetHostChecker
	Doorbell      ports.Doorbell
	// The requests that wait: one that sends a test delivery waits here for the notification that it has ended.
	Waiting *events.WaitingRequests
	Clock   ports.Clock
	Entropy ports.Entropy
	// The function time.After, or a test's replacement.
	After   func(time.Duration) <-chan time.Time
	Allowed webhook.TargetRules
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

// SubscriptionWithSecret is a subscription with its signing secret, which the API shows only once.
type SubscriptionWithSecret struct {
	webhook.Subscription
	Secret secret.Text
}

func (s *Service) newSecret() secret.Text {
	return secret.FromRandom(webhook.SigningSecretPrefix, s.deps.Entropy.Bytes(secret.MinRandomBytes))
}

// checkTarget refuses URLs that the sender would refuse later: malformed URLs, ports of other services, and hosts
// that are not public.
func (s *Service) checkTarget(ctx context.Context, raw string) error {
	u, err := webhook.ParseTargetURL(raw, s.deps.Allowed)
	if err != nil {
		return err
	}
	return s.deps.Targets.CheckHost(ctx, u.Hostname())
}

// awaitFreshness waits until no dispatcher begins a POST with the state of a subscription before the commit, even
// if the caller's connection ends.
func (s *Service) awaitFreshness() { <-s.deps.After(webhook.MaxSubscriptionCacheAge) }

func (s *Service) audit(
	ctx context.Context, by actor.Actor, verb audit.Action, subscriptionID id.ID, now time.Time,
	detail map[string]string,
) error {
	entry := audit.NewEntry(s.deps.Entropy, now, by, verb, id.Subscription.Of(subscriptionID), detail)
	return s.deps.Audit.Append(ctx, entry)
}
