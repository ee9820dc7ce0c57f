// Package webhooks holds the use cases about subscriptions, their delivery log, redeliveries and replays.
package webhooks

import (
	"context"
	"maps"
	"time"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork    ports.UnitOfWork
	Idempotent    *idempotent.Executor
	Subscriptions ports.Subscriptions
	Prober        ports.Prober
	Audit         ports.AuditLog
	Deliveries    ports.Deliveries
	Replays       ports.Replays
	Targets       ports.TargetCheck
	Doorbell      ports.Doorbell
	Clock         ports.Clock
	Entropy       ports.Entropy
	// After is time.After. Test waits for the attempt with After, and changes wait until no dispatcher uses the old state.
	After   func(time.Duration) <-chan time.Time
	Allowed webhook.TargetRules
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// WithSecret is a subscription with its signing secret, which cannot be read again.
type WithSecret struct {
	webhook.Subscription
	Secret secret.Text
}

func (s *Service) newSecret() secret.Text {
	return secret.FromRandom(webhook.SecretPrefix, s.deps.Entropy.Bytes(secret.Bytes))
}

// checkTarget refuses URLs that the sender would refuse later: malformed URLs, ports of other services, and hosts that are not public.
func (s *Service) checkTarget(ctx context.Context, raw string) error {
	u, err := webhook.ParseTarget(raw, s.deps.Allowed)
	if err != nil {
		return err
	}
	return s.deps.Targets.Check(ctx, u.Hostname())
}

// awaitFreshness waits until no dispatcher begins a POST with the state before the commit. The wait is short, and a caller that
// goes away does not end the wait.
func (s *Service) awaitFreshness() { <-s.deps.After(webhook.Freshness) }

// actor is the author of an audit entry. keyID is "" for an admin.
type actor struct{ name, keyID string }

// with adds the key to the detail of an audit entry.
func (a actor) with(detail map[string]string) map[string]string {
	all := map[string]string{}
	if a.keyID != "" {
		all["keyId"] = a.keyID
	}
	maps.Copy(all, detail)
	return all
}

func byPartner(by partner.Caller) actor {
	return actor{name: "partner:" + id.Partner.Of(by.Partner.ID), keyID: id.APIKey.Of(by.Key.ID)}
}

// audit writes a partner's action on a subscription, with the API key used, to the audit log.
func (s *Service) audit(ctx context.Context, by partner.Caller, action string, subscriptionID id.ID, now time.Time, detail map[string]string) error {
	return s.auditActor(ctx, byPartner(by), action, subscriptionID, now, detail)
}

func (s *Service) auditActor(ctx context.Context, by actor, action string, subscriptionID id.ID, now time.Time, detail map[string]string) error {
	return s.deps.Audit.Append(ctx, ports.AuditEntry{
		ID: s.deps.Entropy.NewID(), At: now, Actor: by.name, Action: action,
		Subject: id.Subscription.Of(subscriptionID), Detail: by.with(detail),
	})
}
