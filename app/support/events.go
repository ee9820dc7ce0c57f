package support

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// WebhookRecord is a webhook subscription with its newest deliveries.
type WebhookRecord struct {
	webhookports.SubscriptionView
	Partner    partner.Partner
	Deliveries []webhook.Delivery
}

// FindWebhook finds a subscription by its id, or returns webhook_not_found.
func (s *Service) FindWebhook(ctx context.Context, name string) (w WebhookRecord, err error) {
	subscriptionID, ok := id.Subscription.Parse(name)
	if !ok {
		return w, webhook.ErrNotFound
	}
	if w.SubscriptionView, err = s.deps.Subscriptions.FindSubscription(ctx, subscriptionID); err != nil {
		return w, err
	}
	if w.Partner, err = s.partner(ctx, w.PartnerID); err != nil {
		return w, err
	}
	w.Deliveries, err = s.deps.Deliveries.LastDeliveries(ctx, subscriptionID, MaxListedDeliveries)
	return w, err
}

// DeliveryRecord is a delivery of an event with its webhook subscription.
type DeliveryRecord struct {
	webhook.Delivery
	Subscription webhookports.SubscriptionView
	Partner      partner.Partner
}

// FindDelivery finds a delivery by its id, or returns delivery_not_found.
func (s *Service) FindDelivery(ctx context.Context, name string) (d DeliveryRecord, err error) {
	deliveryID, ok := id.Delivery.Parse(name)
	if !ok {
		return d, webhook.ErrDeliveryNotFound
	}
	if d.Delivery, err = s.deps.Deliveries.FindDelivery(ctx, deliveryID); err != nil {
		return d, err
	}
	if d.Subscription, err = s.deps.Subscriptions.FindSubscription(ctx, d.SubscriptionID); err != nil {
		return d, err
	}
	d.Partner, err = s.partner(ctx, d.Subscription.PartnerID)
	return d, err
}

// EventRecord is an event of a partner with its deliveries to webhook subscriptions.
type EventRecord struct {
	webhookports.EventView
	Partner    partner.Partner
	Deliveries []webhook.Delivery
}

// FindEvent finds an event by its id, or returns event_not_found.
func (s *Service) FindEvent(ctx context.Context, name string) (e EventRecord, err error) {
	eventID, ok := id.Event.Parse(name)
	if !ok {
		return e, webhook.ErrEventNotFound
	}
	if e.EventView, err = s.deps.Events.FindEvent(ctx, eventID); err != nil {
		return e, err
	}
	if e.Partner, err = s.partner(ctx, e.PartnerID); err != nil {
		return e, err
	}
	e.Deliveries, err = s.deps.Deliveries.DeliveriesOfEvent(ctx, e.EventView)
	return e, err
}

// FindAuditEntries returns the newest audit entries, at most MaxListedAuditEntries, for a request id (req_…), the
// id of the changed object, or an actor ("admin", "scheduler" or formerly "dispatcher", "partner:prt_…", an id or
// an operator's e-mail address).
func (s *Service) FindAuditEntries(ctx context.Context, name string) ([]ports.AuditEntry, error) {
	if mailaddr.Valid(name) {
		operator, _, err := s.deps.Operators.OperatorByEmail(ctx, name)
		switch {
		case errors.Is(err, connect.ErrBadCredentials):
			return nil, nil
		case err != nil:
			return nil, err
		}
		name = id.Operator.Of(operator.ID)
	}
	return s.deps.Audit.AuditEntries(ctx, auditFilter(name), MaxListedAuditEntries)
}

// ExportAuditLog passes the audit entries at or after from and before end to each, by time and id. An error of each
// ends the export.
func (s *Service) ExportAuditLog(ctx context.Context, from, end time.Time, each func([]ports.AuditEntry) error) error {
	for after := (ports.AuditLogPosition{At: from}); ; {
		page, err := s.deps.Audit.AuditEntriesAfter(ctx, after, end, ExportPageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
		if len(page) < ExportPageSize {
			return nil
		}
		last := page[len(page)-1]
		after = ports.AuditLogPosition{At: last.At, ID: last.ID}
	}
}

// auditFilter returns the filter for a request id, a subject or an actor.
func auditFilter(name string) ports.AuditFilter {
	if _, is := id.Request.Parse(name); is {
		return ports.AuditFilter{RequestID: name}
	}
	filter := ports.AuditFilter{Subject: name, Actors: []actor.Actor{actor.Parse(name)}}
	if partnerID, is := id.Partner.Parse(name); is {
		filter.Actors = append(filter.Actors, actor.Partner(partnerID, id.ID{}))
	}
	if operatorID, is := id.Operator.Parse(name); is {
		filter.Actors = append(filter.Actors, actor.Operator(operatorID))
	}
	return filter
}
