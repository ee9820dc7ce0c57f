package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// The least time between two relays that found events. At a high rate, a few milliseconds save many transactions.
// At a low rate, waiting would only add latency.
const (
	relayPace = 8 * time.Millisecond
	fewPace   = 2 * time.Millisecond
	fewEvents = 8
)

// relayLoop relays the outbox when the doorbell rings. The loop also polls, because a ring may be lost (delivery.md, point 2).
func (d *Dispatcher) relayLoop(ctx context.Context) {
	ticker := time.NewTicker(d.config.RelayEvery)
	defer ticker.Stop()
	for {
		rung := true
		select {
		case <-ctx.Done():
			return
		case <-d.Bell:
		case <-ticker.C:
			rung = false
		}
		if !rung {
			pending, err := d.Relay.Pending(ctx)
			if err != nil {
				d.complain(ctx, "look at the outbox", err)
				if !pause(ctx, time.Second) {
					return
				}
				continue
			}
			if !pending {
				continue
			}
		}
		d.drainOutbox(ctx)
	}
}

// drainOutbox relays until a batch is not full. Events that are committed meanwhile ring the doorbell again.
func (d *Dispatcher) drainOutbox(ctx context.Context) {
	for {
		n, claims, err := d.Relay.Relay(ctx, d.config.Batch, d.config.Lease, d.plan)
		if err != nil {
			d.complain(ctx, "relay the outbox", err)
			pause(ctx, 250*time.Millisecond)
			return
		}
		if n > 0 {
			d.Metrics.Relayed(n)
			failpoint.Hit("relay.committed")
			d.transport.send(ctx, claims, false)
			failpoint.Hit("relay.enqueued")
		}
		if n < d.config.Batch {
			if n > 0 {
				pause(ctx, paceAfter(n))
			}
			return
		}
	}
}

func paceAfter(relayed int) time.Duration {
	if relayed < fewEvents {
		return fewPace
	}
	return relayPace
}

// plan applies the dispatch rule to events and renders each body once.
func (d *Dispatcher) plan(events []ports.Event, subscriptions []ports.Subscription) []ports.Delivery {
	d.registry.observe(subscriptions)
	now := d.Clock.Now()
	byPartner := map[id.ID][]ports.Subscription{}
	for _, s := range subscriptions {
		byPartner[s.PartnerID] = append(byPartner[s.PartnerID], s)
	}
	var planned []ports.Delivery
	for i := range events {
		event := &events[i]
		bodies := map[webhook.EventName][]byte{}
		for _, s := range byPartner[event.PartnerID] {
			name, ok := webhook.Route(s.Events, event.Name)
			if !ok {
				continue
			}
			if bodies[name] == nil {
				bodies[name] = webhook.Render(name, deposit.Timestamp(event.CreatedAt), event.Data)
			}
			delivery := event.Delivery(s.ID, name, bodies[name])
			switch {
			case !s.Enabled:
				delivery.Parked = true
			case d.registry.admit(s.ID, now):
				delivery.State = webhook.Dispatched
			}
			planned = append(planned, delivery)
		}
	}
	return planned
}
