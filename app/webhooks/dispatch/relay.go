package dispatch

import (
	"context"
	"time"
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
