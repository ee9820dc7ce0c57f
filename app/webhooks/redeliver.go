package webhooks

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// Redeliver sends a delivery again, in any state: it makes a new delivery with the same bytes, due at once and
// retried as usual, except that of a test. The new delivery uses the subscription's present URL and secret.
// Returns webhook_not_found, webhook_disabled, delivery_not_found, and webhook.ErrTooManyTestDeliveries for a
// test.
func (s *Service) Redeliver(ctx context.Context, by partner.Caller, subscriptionID,
	deliveryID id.ID) (webhook.Delivery, error) {
	now := s.deps.Clock.Now()
	copies := []webhookports.Redelivery{{Of: deliveryID, As: s.deps.Entropy.NewID()}}
	var made []webhook.Delivery
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		sub, err := s.deps.Subscriptions.LockRowShared(ctx, by.Partner.ID, subscriptionID)
		switch {
		case err != nil:
			return err
		case !sub.Enabled:
			return webhook.ErrDisabled
		}
		if made, err = s.deps.Deliveries.InsertRedeliveries(ctx, subscriptionID, copies); err != nil {
			return err
		}
		if len(made) == 0 {
			return webhook.ErrDeliveryNotFound
		}
		if made[0].Test {
			if err := s.boundTests(ctx, by.Partner.ID); err != nil {
				return err
			}
		}
		detail := map[string]string{"deliveryId": id.Delivery.Of(deliveryID)}
		return s.audit(ctx, by.Actor(), audit.WebhookRedeliver, subscriptionID, now, detail)
	})
	if err != nil {
		return webhook.Delivery{}, err
	}
	s.deps.Doorbell.WakeScans()
	return made[0], nil
}
