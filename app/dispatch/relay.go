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

// The least time between two relays that found something: at a high rate, a few milliseconds of company make a group of
// what would have been many transactions. At a low one there is no company to wait for.
const (
	relayPace = 8 * time.Millisecond
	fewPace   = 2 * time.Millisecond
	few       = 8 // events
)

// relayLoop empties the outbox whenever it is rung, and looks by itself in between, since a ring may be lost.
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

// drainOutbox relays until less than a full group is left. What is committed meanwhile rings again.
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
	if relayed < few {
		return fewPace
	}
	return relayPace
}

// plan applies the routing rule to events and renders each body, once and for all.
func (d *Dispatcher) plan(events []ports.Event, endpoints []ports.Endpoint) []ports.NewDelivery {
	d.endpoints.observe(endpoints)
	now := d.Clock.Now()
	byPartner := map[id.ID][]ports.Endpoint{}
	for _, e := range endpoints {
		byPartner[e.PartnerID] = append(byPartner[e.PartnerID], e)
	}
	var planned []ports.NewDelivery
	for i := range events {
		event := &events[i]
		bodies := map[webhook.EventName][]byte{}
		for _, e := range byPartner[event.PartnerID] {
			name, ok := webhook.Route(e.Events, event.Name)
			if !ok {
				continue
			}
			if bodies[name] == nil {
				bodies[name] = webhook.Render(name, deposit.Timestamp(event.CreatedAt), event.Data)
			}
			planned = append(planned, d.planOne(e, event, name, bodies[name], now))
		}
	}
	return planned
}

func (d *Dispatcher) planOne(e ports.Endpoint, event *ports.Event, name webhook.EventName, body []byte, now time.Time) ports.NewDelivery {
	p := ports.NewDelivery{ID: webhook.OriginalID(event.ID, e.ID), Endpoint: e.ID, Event: name, Source: event, Body: body, State: webhook.Waiting}
	switch {
	case !e.Enabled:
		p.Parked = true
	case d.endpoints.admit(e.ID, now):
		p.State = webhook.Dispatched
	}
	return p
}
