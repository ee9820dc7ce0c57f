package webhooks

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

type NewSubscription struct {
	URL    string
	Events []string // The names of the events that the subscription receives; nil: all events.
	// The kinds of signature that its deliveries carry; nil: only the kind svc, which every delivery carries.
	Signatures []string
}

// Create stores a new subscription with a new signing secret.
//
// Returns invalid_field, webhook_limit_reached, or the errors of idempotent.Executor.Run.
func (s *Service) Create(ctx context.Context, by partner.Caller, in NewSubscription,
	call idempotent.KeyAndEncoder[SubscriptionWithSecret]) (idempotent.Response, error) {
	now := s.deps.Clock.Now()
	out := SubscriptionWithSecret{
		Subscription: webhook.Subscription{ID: s.deps.Entropy.NewID(), PartnerID: by.Partner.ID, URL: in.URL, Enabled: true,
			CreatedAt: now},
		Secret: s.newSecret(),
	}
	return s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: call.Key,
		Now: now,
		Prepare: func(ctx context.Context) (err error) {
			if out.Events, err = webhook.ParseEventNames(in.Events); err != nil {
				return err
			}
			if out.Standard, err = webhook.ParseSignatureKinds(in.Signatures); err != nil {
				return err
			}
			return s.checkTarget(ctx, in.URL)
		},
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			if err := s.deps.Subscriptions.Insert(ctx, out.Subscription, out.Secret); err != nil {
				return idempotent.Response{}, err
			}
			target := map[string]string{"url": withoutQuery(in.URL)}
			if err := s.audit(ctx, by.Actor(), audit.WebhookCreate, out.ID, now, target); err != nil {
				return idempotent.Response{}, err
			}
			return call.Encode(out)
		},
	})
}
