package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

const (
	urgentBatch = 500
	scanPace    = 5 * time.Millisecond // least time between two claims of a backlog
	scanShare   = 20                   // slow scans take at most the 20th part of the time, …
	longestRest = 2 * time.Second      // … but a scan may be slow because the database stood still, so the next follows soon
)

// scanLoop claims due deliveries: retries, ended leases, and deliveries that waited for room. While a subscription has a
// backlog, room in a window wakes the loop at once.
func (d *Dispatcher) scanLoop(ctx context.Context) {
	var backlog []ports.Subscription
	for wait := d.config.ScanEvery; d.awaitScan(ctx, wait, len(backlog) > 0); {
		if err := d.claimUrgent(ctx); err != nil {
			d.complain(ctx, "claim urgent deliveries", err)
		}
		began := d.Clock.Now() // not earlier: claimUrgent may have waited for the queue
		due, err := d.Claims.Due(ctx)
		if err != nil {
			d.complain(ctx, "look for due deliveries", err)
			pause(ctx, 250*time.Millisecond)
			continue
		}
		d.registry.observe(due)
		wait = max(d.config.ScanEvery, min(scanShare*d.Clock.Now().Sub(began), longestRest))
		backlog = d.drainBacklog(ctx, due, began.Add(wait))
	}
}

// awaitScan waits for the next scan. With a backlog, room in a window ends the wait. The result is false when ctx ended.
func (d *Dispatcher) awaitScan(ctx context.Context, wait time.Duration, backlog bool) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	freed := d.freed
	if !backlog {
		freed = nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-freed:
		return pause(ctx, scanPace)
	}
}

// drainBacklog claims deliveries as room appears, until the backlog is gone or the next scan is due. It returns the
// subscriptions that still have a backlog.
func (d *Dispatcher) drainBacklog(ctx context.Context, due []ports.Subscription, until time.Time) []ports.Subscription {
	for len(due) > 0 {
		now := d.Clock.Now()
		rooms := d.registry.rooms(due, now)
		if len(rooms) > 0 {
			claims, err := d.Claims.Claim(ctx, rooms, d.config.Lease)
			if err != nil {
				d.complain(ctx, "claim due deliveries", err)
				return due
			}
			d.registry.claim(claims)
			if len(claims) > 0 {
				failpoint.Hit("scan.claimed")
			}
			d.transport.send(ctx, claims, false)
			due = withoutDrained(due, rooms, claims)
		}
		if len(due) == 0 || !now.Before(until) || !d.awaitScan(ctx, until.Sub(now), true) {
			return due
		}
	}
	return due
}

// withoutDrained drops the subscriptions that had fewer due deliveries than room.
func withoutDrained(due []ports.Subscription, rooms []ports.Room, claims []ports.Claim) []ports.Subscription {
	got := map[id.ID]int{}
	for _, c := range claims {
		got[c.SubscriptionID]++
	}
	drained := map[id.ID]bool{}
	for _, r := range rooms {
		drained[r.SubscriptionID] = got[r.SubscriptionID] < r.Room
	}
	var left []ports.Subscription
	for _, e := range due {
		if !drained[e.ID] {
			left = append(left, e)
		}
	}
	return left
}

// claimUrgent claims test deliveries and deliveries whose lease ended.
func (d *Dispatcher) claimUrgent(ctx context.Context) error {
	for {
		claims, recovered, err := d.Claims.ClaimUrgent(ctx, urgentBatch, d.config.Lease)
		if err != nil {
			return err
		}
		if recovered > 0 {
			d.Metrics.Reconciled(recovered)
			failpoint.Hit("scan.recovered")
		}
		d.registry.claim(claims)
		d.transport.send(ctx, claims, recovered == 0)
		if len(claims) < urgentBatch {
			return nil
		}
	}
}

// signalFreed tells the scan that a window has room.
func (d *Dispatcher) signalFreed() {
	select {
	case d.freed <- struct{}{}:
	default:
	}
}
