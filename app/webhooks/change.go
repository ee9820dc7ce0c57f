package webhooks

import (
	"context"
	"strings"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

// SubscriptionChanges holds the new values of a subscription's fields; a nil field keeps its value.
type SubscriptionChanges struct {
	URL        *string
	Events     []string
	Signatures []string
	Enabled    *bool
}

// Update changes a subscription and returns it with the health of its endpoint. Enabling makes deliveries that
// waited due, paced (webhook.UnparkedDeliveriesPerSecond). After Update returns, no POST to a disabled
// subscription or to a replaced URL begins. Returns webhook_not_found or invalid_field.
func (s *Service) Update(ctx context.Context, by partner.Caller, subscriptionID id.ID,
	want SubscriptionChanges) (webhook.SubscriptionWithReport, error) {
	now := s.deps.Clock.Now()
	checked, err := s.check(ctx, by, subscriptionID, want)
	if err != nil {
		return webhook.SubscriptionWithReport{}, err
	}
	var before, sub webhook.Subscription
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if before, err = s.deps.Subscriptions.LockRow(ctx, by.Partner.ID, subscriptionID); err != nil {
			return err
		}
		sub = before
		detail := want.apply(&sub, checked)
		if err := s.deps.Subscriptions.Update(ctx, sub, webhook.UnparkedDeliveriesPerSecond); err != nil {
			return err
		}
		return s.audit(ctx, by.Actor(), audit.WebhookUpdate, sub.ID, now, detail)
	})
	if err != nil {
		return webhook.SubscriptionWithReport{}, err
	}
	// Wake the dispatchers: enabling the subscription may have made its waiting deliveries due.
	s.deps.Doorbell.WakeScans()
	if endsOldState(before, sub) {
		s.awaitFreshness()
	}
	return s.report(ctx, sub)
}

// endsOldState reports whether a change makes a POST under the subscription's old state wrong: the URL changed,
// or the subscription was disabled.
func endsOldState(before, after webhook.Subscription) bool {
	return after.URL != before.URL || (before.Enabled && !after.Enabled)
}

// check validates the changes of a subscription outside the transaction, since the host of a new URL must be
// resolved. checked has the events and signatures in the form in which they are stored.
func (s *Service) check(ctx context.Context, by partner.Caller, subscriptionID id.ID,
	want SubscriptionChanges) (checked webhook.Subscription, err error) {
	if _, err := s.deps.Subscriptions.Subscription(ctx, by.Partner.ID, subscriptionID); err != nil {
		return checked, err
	}
	if checked.Events, err = webhook.ParseEventNames(want.Events); err != nil {
		return checked, err
	}
	if checked.Standard, err = webhook.ParseSignatureKinds(want.Signatures); err != nil {
		return checked, err
	}
	if want.URL != nil {
		err = s.checkTarget(ctx, *want.URL)
	}
	return checked, err
}

// apply changes sub and returns the details of the change for the audit log.
func (want SubscriptionChanges) apply(sub *webhook.Subscription, checked webhook.Subscription) map[string]string {
	detail := map[string]string{}
	if want.URL != nil {
		sub.URL, detail["url"] = *want.URL, withoutQuery(*want.URL)
	}
	if want.Events != nil {
		sub.Events, detail["events"] = checked.Events, "changed"
	}
	if want.Signatures != nil {
		sub.Standard, detail["signatures"] = checked.Standard, "changed"
	}
	switch {
	case want.Enabled == nil:
	case *want.Enabled:
		sub.Enabled, sub.DisabledReason, detail["enabled"] = true, "", "true"
	case sub.Enabled:
		// A subscription that failures have disabled keeps that reason, so only an enabled one is disabled here.
		sub.Enabled, sub.DisabledReason, detail["enabled"] = false, webhook.DisabledByPartner, "false"
	}
	return detail
}

// withoutQuery removes the query from a URL for the audit log, which is kept for ever: a query may carry a
// partner's own secret.
func withoutQuery(raw string) string {
	if base, _, found := strings.Cut(raw, "?"); found {
		return base + "?…"
	}
	return raw
}

// Delete ends a subscription. After Delete returns, no POST to it begins.
//
// Returns webhook_not_found.
func (s *Service) Delete(ctx context.Context, by partner.Caller, subscriptionID id.ID) error {
	now := s.deps.Clock.Now()
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Subscriptions.LockRow(ctx, by.Partner.ID, subscriptionID); err != nil {
			return err
		}
		if err := s.deps.Subscriptions.Delete(ctx, subscriptionID, now); err != nil {
			return err
		}
		return s.audit(ctx, by.Actor(), audit.WebhookDelete, subscriptionID, now, nil)
	})
	if err != nil {
		return err
	}
	s.awaitFreshness()
	return nil
}

// RotateSecret replaces the signing secret of a subscription. Every attempt that begins after RotateSecret
// returns is signed with the new secret, retries included.
//
// Returns webhook_not_found.
func (s *Service) RotateSecret(ctx context.Context, by partner.Caller, subscriptionID id.ID) (SubscriptionWithSecret,
	error) {
	now := s.deps.Clock.Now()
	out := SubscriptionWithSecret{Secret: s.newSecret()}
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if out.Subscription, err = s.deps.Subscriptions.LockRow(ctx, by.Partner.ID, subscriptionID); err != nil {
			return err
		}
		if err := s.deps.Subscriptions.SetSigningSecret(ctx, subscriptionID, out.Secret); err != nil {
			return err
		}
		return s.audit(ctx, by.Actor(), audit.WebhookRotateSecret, subscriptionID, now, nil)
	})
	if err != nil {
		return SubscriptionWithSecret{}, err
	}
	s.awaitFreshness()
	return out, nil
}
