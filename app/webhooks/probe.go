package webhooks

import (
	"context"
	"strconv"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// ProbeEndpoints makes failing endpoints be tried now, for the admin command: an open circuit lets one POST
// through, and retries are due. Returns webhook_not_found or webhook_disabled for a single subscription.
func (s *Service) ProbeEndpoints(ctx context.Context, of webhookports.ProbeFilter) (probed webhookports.ProbeResult,
	err error) {
	subject := "webhooks"
	switch {
	case !of.SubscriptionID.IsZero():
		sub, err := s.deps.Subscriptions.SubscriptionByID(ctx, of.SubscriptionID)
		if err != nil {
			return probed, err
		}
		if !sub.Enabled {
			return probed, webhook.ErrDisabled
		}
		subject = id.Subscription.Of(sub.ID)
	case !of.PartnerID.IsZero():
		subject = id.Partner.Of(of.PartnerID)
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if probed, err = s.deps.Prober.ProbeEndpoints(ctx, of); err != nil {
			return err
		}
		detail := map[string]string{
			"circuits": strconv.Itoa(probed.Circuits), "deliveries": strconv.Itoa(probed.Deliveries),
		}
		now := s.deps.Clock.Now()
		entry := audit.NewEntry(s.deps.Entropy, now, actor.Staff, audit.WebhookProbe, subject, detail)
		return s.deps.Audit.Append(ctx, entry)
	})
	return probed, err
}
