package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

const (
	// The least time between two queries that claim deliveries of a backlog for an attempt.
	scanPace = 5 * time.Millisecond
	// Slow queries for due deliveries take at most this part of the time: a twentieth.
	scanShare = 20
	// The longest rest after a slow query for due deliveries: it may have been slow because the database was
	// blocked.
	longestRest = 2 * time.Second
)

// scanLoop claims due deliveries for an attempt: retries, deliveries whose dispatcher died, and those that had to
// wait.
func (d *Dispatcher) scanLoop(ctx context.Context) {
	polls := polls{quick: d.config.ScanEvery, works: d.BellWorks}
	var backlog []webhookports.Subscription
	wait, rung := d.config.ScanEvery, false
	for d.awaitScan(ctx, wait, len(backlog) > 0, &rung) {
		began := d.Clock.Now()
		due, err := d.Claims.FindDue(ctx, calmPoll)
		if err != nil {
			d.complain(ctx, "look for due deliveries", err)
			polls.surprised(d.Clock.Now())
			pause(ctx, 250*time.Millisecond)
			continue
		}
		rest := scanRest(d.config.ScanEvery, d.Clock.Now().Sub(began))
		d.registry.observe(due.Subscriptions)
		if due.Urgent {
			if err := d.claimUrgent(ctx); err != nil {
				d.complain(ctx, "claim urgent deliveries", err)
			}
		}
		backlog = d.drainBacklog(ctx, due.Subscriptions, d.Clock.Now().Add(rest))
		switch now := d.Clock.Now(); {
		case rung:
			polls.rung(now)
		// Nothing announced these deliveries: tests without a notification, or those of a dispatcher that died.
		case due.Urgent:
			polls.surprised(now)
		}
		wait = scanWait(due, rest, polls.wait(d.Clock.Now()))
	}
}

// scanRest returns the least time between two queries for due deliveries, after a query that took so long.
func scanRest(every, took time.Duration) time.Duration {
	return max(every, min(scanShare*took, longestRest))
}

// scanWait returns the time until the next query for due deliveries: rest while something is due, and otherwise
// until the next poll or the next due delivery.
func scanWait(due webhookports.DueScanResult, rest, poll time.Duration) time.Duration {
	if due.Urgent || len(due.Subscriptions) > 0 {
		return rest
	}
	return max(rest, min(poll, due.Next))
}

// awaitScan waits until due deliveries are to be searched. A wake-up notification ends the wait and sets rung to
// true, unless rung is nil.
func (d *Dispatcher) awaitScan(ctx context.Context, wait time.Duration, backlog bool, rung *bool) bool {
	others, own := d.DueBell, (<-chan struct{})(d.due)
	if rung == nil {
		others, own, rung = nil, nil, new(bool)
	}
	*rung = false
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
	case <-others:
		*rung = true
	case <-own:
		*rung = true
	case <-freed:
	}
	return pause(ctx, scanPace)
}

func (d *Dispatcher) drainBacklog(ctx context.Context, due []webhookports.Subscription,
	until time.Time) []webhookports.Subscription {
	for len(due) > 0 {
		now := d.Clock.Now()
		rooms := d.registry.rooms(due, now)
		if len(rooms) > 0 {
			claims, err := d.Claims.ClaimDue(ctx, rooms, d.config.Lease)
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
		if len(due) == 0 || !now.Before(until) || !d.awaitScan(ctx, until.Sub(now), true, nil) {
			return due
		}
	}
	return due
}

func withoutDrained(due []webhookports.Subscription, rooms []webhookports.ClaimQuota,
	claims []webhookports.Claim) []webhookports.Subscription {
	got := map[id.ID]int{}
	for _, c := range claims {
		got[c.SubscriptionID]++
	}
	drained := map[id.ID]bool{}
	for _, r := range rooms {
		drained[r.SubscriptionID] = got[r.SubscriptionID] < r.Room
	}
	var left []webhookports.Subscription
	for _, e := range due {
		if !drained[e.ID] {
			left = append(left, e)
		}
	}
	return left
}

// claimUrgent claims, for an attempt at once, test deliveries and deliveries whose dispatcher died.
func (d *Dispatcher) claimUrgent(ctx context.Context) error {
	for {
		claims, recovered, err := d.Claims.ClaimUrgent(ctx, d.config.Batch, d.config.Lease)
		if err != nil {
			return err
		}
		if recovered > 0 {
			d.Metrics.CountRecovered(recovered)
			failpoint.Hit("scan.recovered")
		}
		d.registry.claim(claims)
		d.transport.send(ctx, claims, recovered == 0)
		if len(claims) < d.config.Batch {
			return nil
		}
	}
}
