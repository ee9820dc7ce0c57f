package webhooks

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Get gives a partner's subscription.
//
// Returns webhook_not_found.
func (s *Service) Get(ctx context.Context, partnerID, subscriptionID id.ID) (webhook.Subscription, error) {
	return s.deps.Subscriptions.Subscription(ctx, partnerID, subscriptionID)
}

// List gives a partner's subscriptions, newest first.
func (s *Service) List(ctx context.Context, partnerID id.ID, page ports.Page) (ports.List[webhook.Subscription], error) {
	return s.deps.Subscriptions.Subscriptions(ctx, partnerID, page)
}

// ListDeliveries gives the delivery log of a subscription, newest first.
//
// Returns webhook_not_found.
func (s *Service) ListDeliveries(ctx context.Context, partnerID, subscriptionID id.ID, f ports.DeliveryFilter, page ports.Page) (ports.List[webhook.Delivery], error) {
	if _, err := s.deps.Subscriptions.Subscription(ctx, partnerID, subscriptionID); err != nil {
		return ports.List[webhook.Delivery]{}, err
	}
	return s.deps.Deliveries.Deliveries(ctx, subscriptionID, f, page)
}

// GetDelivery gives a delivery with its body and its attempts.
//
// Returns webhook_not_found or delivery_not_found.
func (s *Service) GetDelivery(ctx context.Context, partnerID, subscriptionID, deliveryID id.ID) (webhook.Delivery, error) {
	if _, err := s.deps.Subscriptions.Subscription(ctx, partnerID, subscriptionID); err != nil {
		return webhook.Delivery{}, err
	}
	return s.deps.Deliveries.Delivery(ctx, subscriptionID, deliveryID)
}
