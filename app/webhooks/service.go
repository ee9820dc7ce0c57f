// Package webhooks holds the use cases of the partner API about webhook subscriptions and their delivery log.
package webhooks

import (
	"context"
	"net/url"
	"time"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Deps is what the use cases stand on.
type Deps struct {
	UnitOfWork    ports.UnitOfWork
	Idempotent    *idempotent.Executor
	Subscriptions ports.SubscriptionReader
	Deliveries    ports.DeliveryReader
	Replays       ports.ReplayReader
	Targets       ports.TargetCheck
	Doorbell      ports.Doorbell
	Clock         ports.Clock
	Entropy       ports.Entropy
	// After is time.After: how a test delivery waits for its attempt, and a change for the old state to be forgotten.
	After func(time.Duration) <-chan time.Time
	// AllowInsecure accepts http endpoints: WEBHOOK_ALLOW_INSECURE_TARGETS.
	AllowInsecure bool
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// WithSecret is a subscription with its signing secret, which is shown this once.
type WithSecret struct {
	webhook.Subscription
	Secret secret.Text
}

func (s *Service) newSecret() secret.Text {
	return secret.FromRandom(webhook.SecretPrefix, s.deps.Entropy.Bytes(secret.Bytes))
}

// checkTarget refuses early what the sender would refuse later: a malformed URL, or a host that is not public.
func (s *Service) checkTarget(ctx context.Context, raw string) error {
	var u *url.URL
	u, err := webhook.ParseTarget(raw, s.deps.AllowInsecure)
	if err != nil {
		return err
	}
	return s.deps.Targets.Check(ctx, u.Hostname())
}

// forgotten waits until no POST is begun any more by a worker that knows the state before the commit. A commit that was
// made is answered for: the wait is short and does not end with the caller's patience.
func (s *Service) forgotten() { <-s.deps.After(webhook.Freshness) }

// actor is who did something, with what there is to say of it.
type actor struct{ name, keyID string }

func byPartner(by partner.Caller) actor {
	return actor{name: "partner:" + id.Partner.Of(by.Partner.ID), keyID: id.APIKey.Of(by.Key.ID)}
}

// audit remembers what the partner did to a subscription, with the key it used.
func (s *Service) audit(ctx context.Context, repos ports.Repositories, by partner.Caller, action string, subscriptionID id.ID, now time.Time, detail map[string]string) error {
	return s.note(ctx, repos, byPartner(by), action, subscriptionID, now, detail)
}

func (s *Service) note(ctx context.Context, repos ports.Repositories, by actor, action string, subscriptionID id.ID, now time.Time, detail map[string]string) error {
	said := map[string]string{}
	if by.keyID != "" {
		said["keyId"] = by.keyID
	}
	for k, v := range detail {
		said[k] = v
	}
	return repos.Audit.Append(ctx, ports.AuditEntry{
		ID: s.deps.Entropy.NewID(), At: now, Actor: by.name, Action: action, Subject: id.Subscription.Of(subscriptionID), Detail: said,
	})
}
