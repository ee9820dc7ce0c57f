package dispatch

import (
	"context"
	"slices"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// plan decides which subscriptions get each event, and renders each body once.
func plan(events []ports.Event, subscriptions []webhookports.Subscription,
	admit func(sub id.ID) bool) []webhookports.Delivery {
	byPartner := map[id.ID][]webhookports.Subscription{}
	for _, s := range subscriptions {
		byPartner[s.PartnerID] = append(byPartner[s.PartnerID], s)
	}
	var planned []webhookports.Delivery
	for i := range events {
		event := &events[i]
		bodies := map[webhook.EventName][]byte{}
		for _, s := range byPartner[event.PartnerID] {
			name, ok := webhook.ChooseEventName(s.Events, event.Name)
			if !ok {
				continue
			}
			if bodies[name] == nil {
				bodies[name] = webhook.RenderBody(name, deposit.FormatTimestamp(event.CreatedAt), event.Data)
			}
			delivery := webhookports.NewDelivery(event, s.ID, name, bodies[name])
			switch {
			case !s.Enabled:
				delivery.Parked = true
			case admit(s.ID):
				delivery.State = webhook.DeliveryStateDispatched
			}
			planned = append(planned, delivery)
		}
	}
	return planned
}

// leavesBacklog reports whether any of the new deliveries has to wait, because its subscription has too many at
// a time.
func leavesBacklog(planned []webhookports.Delivery) bool {
	return slices.ContainsFunc(planned,
		func(p webhookports.Delivery) bool { return p.State == webhook.DeliveryStateWaiting && !p.Parked })
}

func partnersOf(events []ports.Event) (partners []id.ID) {
	for i := range events {
		if !slices.Contains(partners, events[i].PartnerID) {
			partners = append(partners, events[i].PartnerID)
		}
	}
	return partners
}

// setAside moves the event that the database refused out of the outbox, so that deliveries of the other events
// can be made (delivery.md, point 10).
func (d *Dispatcher) setAside(ctx context.Context, refused *webhookports.RefusedEventsError) error {
	event := refused.Events[0]
	moved, err := d.Relay.SetEventAside(ctx, event.ID, refused.Reason)
	if err != nil || !moved {
		return err
	}
	d.Log.ErrorContext(ctx, "dispatcher: an event cannot be filed and is set aside; see `admin outbox list`",
		"event", id.Event.Of(event.ID), "name", event.Name, "partner", id.Partner.Of(event.PartnerID), "error",
		refused.Reason)
	return nil
}
