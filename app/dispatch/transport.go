package dispatch

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"partnerdeposits/core/webhook"
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
	// settleAfterLoss lets what workers have in their hands when the queue is lost go out.
	settleAfterLoss = 2 * time.Second
	// recordSpan is what the record of a POST may take.
	recordSpan = time.Second
)

// outlast is how long after a claim was made stale a POST under it may be unrecorded: one that read the claim just before
// begins within Freshness. Only then may the delivery go out again; a shorter wait sends twice to whoever answers slowly.
func (t *transport) outlast() time.Duration {
	return webhook.Freshness + t.d.config.Timeout + recordSpan
}

// send groups claims into jobs and hands them over.
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

// renewed runs jobs here that may or may not have reached the queue: claimed again, so that a late one is stale, and only
// once one that was not late has been recorded.
func (t *transport) renewed(ctx context.Context, jobs []ports.Job) {
	var again []ports.Job
	for _, j := range jobs {
		claims, err := t.d.Work.Renew(context.WithoutCancel(ctx), j.Claims, t.outlast()+t.d.config.Lease)
		if err != nil {
			t.d.complain(ctx, "renew claims", err) // their leases run out, and the scan finds them
			continue
		}
		j.Claims = claims
		again = append(again, j)
	}
	failpoint.Hit("transport.renewed")
	t.d.posts.Go(func() {
		pause(ctx, t.outlast()) // when ctx ends, the claims are released
		t.local(ctx, again)
	})
}

func (t *transport) local(ctx context.Context, jobs []ports.Job) {
	for _, j := range jobs {
		t.d.submit(ctx, j, func() {})
	}
	failpoint.Hit("transport.local")
}

// jobs puts as many claims into each job as fit. They may be of many endpoints, of one lane: each waits for a slot of its
// own endpoint, and a worker waits for none of them for long.
func (t *transport) jobs(claims []ports.Claim, urgent bool) (jobs []ports.Job) {
	byLane := map[ports.Lane][]ports.Claim{}
	for _, c := range claims {
		lane := t.d.endpoints.lane(c.SubscriptionID)
		byLane[lane] = append(byLane[lane], c)
	}
	for _, lane := range ports.Lanes {
		for part := range slices.Chunk(byLane[lane], t.d.config.JobSize) {
			jobs = append(jobs, ports.Job{Lane: lane, Urgent: urgent, Claims: part})
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

// recover takes the claims of jobs back that the queue lost. What is in the hands of this process is not lost; what others
// have in theirs they lose as well, and it comes again once no POST of theirs can be under way.
func (t *transport) recover(ctx context.Context) {
	t.d.Log.InfoContext(ctx, "dispatcher: the queue is new or lost its jobs; what was under way then will be dispatched again")
	failpoint.Hit("epoch.noticed")
	if !pause(ctx, settleAfterLoss) {
		return
	}
	failpoint.Hit("epoch.settled")
	n, err := t.d.Claims.ExpireLeases(ctx, settleAfterLoss, t.d.config.Lease, t.outlast(), t.d.endpoints.busy())
	if err != nil {
		t.d.complain(ctx, "take back the claims of lost jobs", err) // they run out by themselves
		return
	}
	t.d.Log.InfoContext(ctx, "dispatcher: claims of lost jobs taken back", "deliveries", n)
}
