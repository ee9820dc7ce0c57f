package dispatch

import (
	"context"
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// transport brings claims to workers: through the queue, or straight to the local ones while the queue is away.
type transport struct {
	d    *Dispatcher
	away atomic.Bool
}

// Spans of the transport.
const (
	enqueueTimeout = time.Second
	probeEvery     = 250 * time.Millisecond
	epochEvery     = time.Second
	tidyEvery      = time.Hour
	// afterRenewal lets POSTs of jobs that did reach the queue, after all, be recorded: they were begun within Freshness of
	// the renewal, and most take less than this.
	afterRenewal = time.Second
	// settleAfterLoss lets the POSTs that were under way when the queue was lost finish, so that they are not made twice.
	settleAfterLoss = 2 * time.Second
)

// send groups claims into jobs by endpoint and hands them over.
func (t *transport) send(ctx context.Context, claims []ports.Claim, urgent bool) {
	if len(claims) == 0 {
		return
	}
	jobs := t.jobs(claims, urgent)
	if t.away.Load() {
		t.local(ctx, jobs)
		return
	}
	// Told to stop or not: what is claimed and not handed on waits for the end of its lease.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTimeout)
	defer cancel()
	left, err := t.d.Queue.Enqueue(bounded, jobs)
	if err == nil {
		return
	}
	if t.away.CompareAndSwap(false, true) {
		t.d.Log.WarnContext(ctx, "dispatcher: the queue is away, delivering from here until it is back", "error", err)
	}
	t.renewed(ctx, left)
}

// renewed runs jobs here that may or may not have reached the queue: claimed again, so that a late one is stale, and after
// a moment, so that one that was not late has been recorded.
func (t *transport) renewed(ctx context.Context, jobs []ports.Job) {
	var again []ports.Job
	for _, j := range jobs {
		claims, err := t.d.Work.Renew(context.WithoutCancel(ctx), j.Claims, t.d.config.Lease)
		if err != nil {
			t.d.complain(ctx, "renew claims", err) // their leases run out, and the scan finds them
			continue
		}
		j.Claims = claims
		again = append(again, j)
	}
	failpoint.Hit("transport.renewed")
	t.d.posts.Go(func() {
		pause(ctx, afterRenewal) // when ctx ends, the claims are released
		t.local(ctx, again)
	})
}

func (t *transport) local(ctx context.Context, jobs []ports.Job) {
	for _, j := range jobs {
		for _, c := range j.Claims {
			t.d.submit(ctx, task{claim: c, urgent: j.Urgent, done: func() {}})
		}
	}
	failpoint.Hit("transport.local")
}

func (t *transport) jobs(claims []ports.Claim, urgent bool) []ports.Job {
	bySub := map[id.ID][]ports.Claim{}
	var order []id.ID
	for _, c := range claims {
		if bySub[c.SubscriptionID] == nil {
			order = append(order, c.SubscriptionID)
		}
		bySub[c.SubscriptionID] = append(bySub[c.SubscriptionID], c)
	}
	var jobs []ports.Job
	for _, sub := range order {
		lane := t.d.endpoints.lane(sub)
		for rest := bySub[sub]; len(rest) > 0; {
			n := min(len(rest), t.d.config.JobSize)
			jobs = append(jobs, ports.Job{Lane: lane, Urgent: urgent, Claims: rest[:n]})
			rest = rest[n:]
		}
	}
	return jobs
}

// watch notices that the queue is back, and that it lost what it held.
func (t *transport) watch(ctx context.Context) {
	var tidied time.Time
	for every := epochEvery; pause(ctx, every); {
		if t.away.Load() {
			every = probeEvery
			if t.d.Queue.Ping(ctx) != nil {
				continue
			}
			t.away.Store(false)
			t.d.Log.InfoContext(ctx, "dispatcher: the queue is back")
		}
		every = epochEvery
		lost, err := t.d.Queue.Epoch(ctx)
		if err != nil {
			continue
		}
		if lost {
			t.recover(ctx)
		}
		if now := t.d.Clock.Now(); now.Sub(tidied) > tidyEvery {
			tidied = now
			if err := t.d.Queue.Tidy(ctx); err != nil {
				t.d.complain(ctx, "tidy the queue", err)
			}
		}
	}
}

// recover ends the leases of jobs that the queue lost, once every POST that was under way then has ended.
func (t *transport) recover(ctx context.Context) {
	t.d.Log.InfoContext(ctx, "dispatcher: the queue is new or lost its jobs; what was under way then will be dispatched again")
	failpoint.Hit("epoch.noticed")
	wait := t.d.config.Timeout + settleAfterLoss
	if !pause(ctx, wait) {
		return
	}
	failpoint.Hit("epoch.settled")
	n, err := t.d.Claims.ExpireLeases(ctx, wait, t.d.config.Lease, t.d.endpoints.busy())
	if err != nil {
		t.d.complain(ctx, "end the leases of lost jobs", err) // they run out by themselves
		return
	}
	t.d.Log.InfoContext(ctx, "dispatcher: leases of lost jobs ended", "deliveries", n)
}
