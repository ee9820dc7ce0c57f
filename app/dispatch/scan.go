package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// Bounds of the scan.
const (
	urgentBatch = 500
	scanPace    = 5 * time.Millisecond // least time between two claims of a backlog
	scanShare   = 20                   // a scan that takes long is made less often: it may cost a twentieth of the time …
	longestRest = 2 * time.Second      // … but what took long may as well have waited for a database that stood still
)

// scanLoop claims what is due: what waited for room, retries, and leases that ran out. While an endpoint has a backlog,
// it is woken as soon as the window has room again.
func (d *Dispatcher) scanLoop(ctx context.Context) {
	if !scans {
		return
	}
	var backlog []ports.Endpoint
	for wait := d.config.ScanEvery; d.awaitScan(ctx, wait, len(backlog) > 0); {
		if err := d.claimUrgent(ctx); err != nil {
			d.complain(ctx, "claim urgent deliveries", err)
		}
		began := d.Clock.Now() // by now, since handing over what was urgent may have waited for the queue
		due, err := d.Claims.Due(ctx)
		if err != nil {
			d.complain(ctx, "look for due deliveries", err)
			pause(ctx, 250*time.Millisecond)
			continue
		}
		d.endpoints.observe(due)
		wait = max(d.config.ScanEvery, min(scanShare*d.Clock.Now().Sub(began), longestRest))
		backlog = d.drainBacklog(ctx, due, began.Add(wait))
	}
}

// awaitScan waits for the next scan; a backlog is looked at again as soon as there is room.
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

// drainBacklog claims as room appears until the backlog is gone or it is time to scan again. It returns who still has one.
func (d *Dispatcher) drainBacklog(ctx context.Context, due []ports.Endpoint, until time.Time) []ports.Endpoint {
	for len(due) > 0 {
		now := d.Clock.Now()
		rooms := d.endpoints.rooms(due, now)
		if len(rooms) > 0 {
			claims, err := d.Claims.Claim(ctx, rooms, d.config.Lease)
			if err != nil {
				d.complain(ctx, "claim due deliveries", err)
				return due
			}
			d.endpoints.claim(claims)
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

// withoutDrained drops the endpoints that had less than there was room for.
func withoutDrained(due []ports.Endpoint, rooms []ports.Room, claims []ports.Claim) []ports.Endpoint {
	got := map[id.ID]int{}
	for _, c := range claims {
		got[c.SubscriptionID]++
	}
	drained := map[id.ID]bool{}
	for _, r := range rooms {
		drained[r.SubscriptionID] = got[r.SubscriptionID] < r.Room
	}
	var left []ports.Endpoint
	for _, e := range due {
		if !drained[e.ID] {
			left = append(left, e)
		}
	}
	return left
}

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
		d.endpoints.claim(claims)
		d.transport.send(ctx, claims, recovered == 0)
		if len(claims) < urgentBatch {
			return nil
		}
	}
}

// signalFreed wakes a scan that waits for room.
func (d *Dispatcher) signalFreed() {
	select {
	case d.freed <- struct{}{}:
	default:
	}
}
