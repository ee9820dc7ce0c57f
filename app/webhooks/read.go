package webhooks

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// Get returns a partner's subscription, with the health of its endpoint.
//
// Returns webhook_not_found.
func (s *Service) Get(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.SubscriptionWithReport, error) {
	sub, err := s.deps.Subscriptions.Subscription(ctx, partnerID, subscriptionID)
	if err != nil {
		return webhook.SubscriptionWithReport{}, err
	}
	return s.report(ctx, sub)
}

func (s *Service) report(ctx context.Context, sub webhook.Subscription) (webhook.SubscriptionWithReport, error) {
	reported, err := s.deps.Subscriptions.HealthReports(ctx, []webhook.Subscription{sub})
	if err != nil {
		return webhook.SubscriptionWithReport{}, err
	}
	return reported[0], nil
}

func (s *Service) List(ctx context.Context, partnerID id.ID,
	page ports.Page) (ports.ListPage[webhook.SubscriptionWithReport], error) {
	found, err := s.deps.Subscriptions.Subscriptions(ctx, partnerID, page)
	if err != nil {
		return ports.ListPage[webhook.SubscriptionWithReport]{}, err
	}
	reported, err := s.deps.Subscriptions.HealthReports(ctx, found.Items)
	return ports.ListPage[webhook.SubscriptionWithReport]{Items: reported, Next: found.Next}, err
}

// ListDeliveries returns the delivery log of a subscription, newest first.
//
// Returns webhook_not_found.
func (s *Service) ListDeliveries(ctx context.Context, partnerID, subscriptionID id.ID, f webhookports.DeliveryFilter,
	page ports.Page) (ports.ListPage[webhook.Delivery], error) {
	if _, err := s.deps.Subscriptions.Subscription(ctx, partnerID, subscriptionID); err != nil {
		return ports.ListPage[webhook.Delivery]{}, err
	}
	return s.deps.Deliveries.Deliveries(ctx, subscriptionID, f, page)
}

// GetDelivery returns a delivery with its body and its attempts.
//
// Returns webhook_not_found or delivery_not_found.
func (s *Service) GetDelivery(ctx context.Context, partnerID, subscriptionID,
	deliveryID id.ID) (webhook.Delivery, error) {
	if _, err := s.deps.Subscriptions.Subscription(ctx, partnerID, subscriptionID); err != nil {
		return webhook.Delivery{}, err
	}
	return s.deps.Deliveries.Delivery(ctx, subscriptionID, deliveryID)
}
