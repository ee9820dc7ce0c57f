package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayPace is the least time between two transactions that take events from the outbox: under load each takes a
// batch, and a lone event does not wait.
const relayPace = 8 * time.Millisecond

// relayLoop makes deliveries of the events in the outbox when a wake-up notification arrives, and polls, because a
// notification may be lost (delivery.md, point 2).
func (d *Dispatcher) relayLoop(ctx context.Context) {
	polls := polls{quick: d.config.RelayEvery, works: d.BellWorks}
	lead := lead{leads: d.Leads}
	timer := time.NewTimer(d.config.RelayEvery)
	defer timer.Stop()
	for {
		watched := lead.watches
		select {
		case <-ctx.Done():
			return
		case <-d.Bell:
			polls.rung(d.Clock.Now())
			follows := lead.follows(d.Clock.Now())
			if follows && watched {
				continue // This dispatcher already checks the leader; the running timer of that check must not start anew.
			}
			lead.watches = follows
			if !follows && !d.drainOutbox(ctx) {
				polls.surprised(d.Clock.Now())
			}
		case <-timer.C:
			lead.watches = false
			if d.pollOutbox(ctx, &lead) && !watched {
				polls.surprised(d.Clock.Now())
			}
		}
		timer.Reset(lead.wait(polls.wait(d.Clock.Now())))
	}
}

// pollOutbox makes deliveries of the events in the outbox, and reports whether there were events or the poll
// failed. A dispatcher that is not the leader handles only events that the leader leaves.
func (d *Dispatcher) pollOutbox(ctx context.Context, lead *lead) bool {
	pending, waited, err := d.Relay.OutboxPending(ctx)
	switch {
	case err != nil:
		d.complain(ctx, "look at the outbox", err)
		pause(ctx, time.Second)
	case pending && lead.leaves(waited, d.Clock.Now()):
		lead.watches = true
		return false
	case pending:
		d.drainOutbox(ctx)
	}
	return err != nil || pending
}

// drainOutbox makes deliveries of the outbox's events, batch by batch, until a batch is not full. The result
// reports whether all batches succeeded.
func (d *Dispatcher) drainOutbox(ctx context.Context) bool {
	d.keepPace(ctx)
	for {
		n, err := d.relay(ctx, d.config.Batch)
		if err != nil {
			d.complain(ctx, "relay the outbox", err)
			pause(ctx, 250*time.Millisecond)
			return false
		}
		if n < d.config.Batch {
			if n > 0 {
				d.nextRelay = d.Clock.Now().Add(relayPace)
			}
			return true
		}
	}
}

// keepPace waits until the least time since the outbox was last read is over. It drops a wake-up notification
// that comes meanwhile, since the next read finds its events too.
func (d *Dispatcher) keepPace(ctx context.Context) {
	early := d.nextRelay.Sub(d.Clock.Now())
	if early <= 0 {
		return
	}
	pause(ctx, min(early, relayPace)) // If the clock was set back, the wait would be too long.
	select {
	case <-d.Bell:
	default:
	}
}

// relay removes up to limit events from the outbox in a transaction and stores their deliveries. A group of events
// that the database refuses is halved until the refused event is alone and is set aside.
func (d *Dispatcher) relay(ctx context.Context, limit int) (taken int, err error) {
	backlog := false
	var partners []id.ID
	n, claims, err := d.Relay.Relay(ctx, limit, d.config.Lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) []webhookports.Delivery {
			d.registry.observe(subscriptions)
			now := d.Clock.Now()
			planned := plan(events, subscriptions, func(sub id.ID) bool { return d.registry.admit(sub, now) })
			partners, backlog = partnersOf(events), leavesBacklog(planned)
			return planned
		})
	var refused *webhookports.RefusedEventsError
	switch {
	case errors.As(err, &refused) && len(refused.Events) == 1:
		return 1, d.setAside(ctx, refused)
	case errors.As(err, &refused):
		half := (len(refused.Events) + 1) / 2
		if taken, err = d.relay(ctx, half); err != nil {
			return taken, err
		}
		rest, err := d.relay(ctx, len(refused.Events)-half)
		return taken + rest, err
	case err != nil:
		return 0, err
	}
	if n > 0 {
		d.Metrics.CountRelayed(n)
		d.RingFeeds(partners)
		failpoint.Hit("relay.committed")
		d.transport.send(ctx, claims, false)
		failpoint.Hit("relay.enqueued")
	}
	if backlog {
		signal(d.due)
	}
	return n, nil
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
