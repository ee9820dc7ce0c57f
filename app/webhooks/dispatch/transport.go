package dispatch

import (
	"context"
	"slices"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

const awayMessage = "dispatcher: the queue is away, delivering from here until it is back"

const (
	enqueueTimeout = time.Second
	probeEvery     = 250 * time.Millisecond // The time between two probes while the queue is unreachable.
	epochEvery     = time.Second
	askTimeout     = time.Second // The longest time of a probe or of a query for the epoch.
	tidyEvery      = time.Hour
	// lossDelay is the time between the loss of the queue's jobs and the recovery of their claims. Workers that had
	// taken their jobs before the loss finish meanwhile.
	lossDelay = 2 * time.Second
	// recordSpan is the longest usual time from the end of a POST to the commit of its record.
	recordSpan = time.Second
)

// settleSpan returns how long after a claim became stale a POST under it may still be unrecorded: a worker that
// loaded the delivery just before begins its POST within webhook.Freshness. The delivery must not be sent again
// earlier, because an endpoint that answers slowly would receive the delivery twice.
func (t *transport) settleSpan() time.Duration {
	return webhook.Freshness + t.d.config.Timeout + recordSpan
}

// send hands claims to workers: through the queue, or in this process while the queue is unreachable.
func (t *transport) send(ctx context.Context, claims []webhookports.Claim, urgent bool) {
	if len(claims) == 0 {
		return
	}
	jobs := t.jobs(claims, urgent)
	if t.away.Load() {
		t.local(ctx, jobs)
		return
	}
	if left, err := t.enqueue(ctx, jobs); err != nil {
		t.leave(ctx, err)
		t.renewed(ctx, left)
	}
}

// enqueue adds jobs to the queue. A shutdown does not stop this: claims that are not handed over wait for the end
// of their leases.
func (t *transport) enqueue(ctx context.Context, jobs []webhookports.Job) (left []webhookports.Job, err error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTimeout)
	defer cancel()
	return t.d.Queue.Enqueue(bounded, jobs)
}

// leave stops the use of the queue: jobs then go straight to the workers of this process.
func (t *transport) leave(ctx context.Context, err error) {
	if t.away.CompareAndSwap(false, true) {
		t.d.Metrics.QueueMode(webhookports.QueueDirect)
		t.queue.Failed(ctx, awayMessage, "error", err)
	}
}

// renewed runs jobs in this process that may or may not have reached the queue. New claims make a job in the
// queue stale. The jobs run after settleSpan, when a POST of a job in the queue is recorded.
func (t *transport) renewed(ctx context.Context, jobs []webhookports.Job) {
	var again []webhookports.Job
	for _, j := range jobs {
		claims, err := t.d.Work.Renew(context.WithoutCancel(ctx), j.Claims, t.settleSpan()+t.d.config.Lease)
		if err != nil {
			t.d.complain(ctx, "renew claims", err) // the scan finds the deliveries of these claims when their leases end
			continue
		}
		j.Claims = claims
		again = append(again, j)
	}
	failpoint.Hit("transport.renewed")
	t.d.posts.Go(func() {
		// a shutdown ends this pause before the jobs run again; the workers then release the claims
		pause(ctx, t.settleSpan())
		t.local(ctx, again)
	})
}

func (t *transport) local(ctx context.Context, jobs []webhookports.Job) {
	for _, j := range jobs {
		t.d.submit(ctx, j, func() {})
	}
	failpoint.Hit("transport.local")
}

// jobs puts as many claims of a lane into each job as fit. The claims of a job may belong to many subscriptions,
// because each claim waits for a slot of its own subscription and no worker waits long for a job.
func (t *transport) jobs(claims []webhookports.Claim, urgent bool) (jobs []webhookports.Job) {
	byLane := map[webhookports.Lane][]webhookports.Claim{}
	for _, c := range claims {
		lane, partner := t.d.registry.laneOf(c.SubscriptionID)
		c.PartnerID = partner
		byLane[lane] = append(byLane[lane], c)
	}
	for _, lane := range webhookports.Lanes {
		for part := range slices.Chunk(byLane[lane], t.d.config.JobSize) {
			jobs = append(jobs, webhookports.Job{Lane: lane, Urgent: urgent, Kept: t.d.registry.keeps(part), Claims: part})
		}
	}
	return jobs
}

// watch detects that the queue takes no jobs, that the queue works again, and that the queue lost its jobs
// (delivery.md, point 8).
func (t *transport) watch(ctx context.Context) {
	t.d.Metrics.QueueMode(webhookports.QueueUsed)
	var tidied time.Time
	for every := epochEvery; pause(ctx, every); {
		every = probeEvery
		if t.away.Load() && !t.returned(ctx) {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, askTimeout)
		lost, err := t.d.Queue.Epoch(bounded)
		cancel()
		if err != nil && ctx.Err() == nil {
			// the queue is left before a job is handed over, which would then wait for the end of settleSpan
			t.leave(ctx, err)
		}
		if lost {
			t.recover(ctx)
		}
		if err != nil {
			continue
		}
		every = epochEvery
		if now := t.d.Clock.Now(); now.Sub(tidied) > tidyEvery {
			tidied = now
			if err := t.d.Queue.Tidy(ctx); err != nil {
				t.d.complain(ctx, "tidy the queue", err)
			}
		}
	}
}

// returned probes the queue, and makes jobs go through the queue again after enough successes. It reports whether
// they do.
func (t *transport) returned(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err := t.d.Queue.Probe(bounded)
	if err != nil && ctx.Err() == nil {
		t.queue.Failed(ctx, awayMessage, "error", err)
	}
	if !t.proof.enough(err, t.d.Clock.Now()) {
		return false
	}
	t.away.Store(false)
	t.d.Metrics.QueueMode(webhookports.QueueUsed)
	t.queue.Over(ctx, "dispatcher: the queue is back")
	return true
}

// recover expires the claims of jobs that the queue lost. Claims in flight in this process are not lost. Claims
// in flight in other dispatchers expire as well; their deliveries are due again when no POST of theirs can be
// unrecorded.
func (t *transport) recover(ctx context.Context) {
	t.d.Log.InfoContext(ctx,
		"dispatcher: the queue is new or lost its jobs; what was under way then will be dispatched again")
	failpoint.Hit("epoch.noticed")
	if !pause(ctx, lossDelay) {
		return
	}
	failpoint.Hit("epoch.settled")
	n, err := t.d.Claims.ExpireLeases(ctx, lossDelay, t.d.config.Lease, t.settleSpan(), t.d.registry.inFlight())
	if err != nil {
		// the leases of the lost jobs' claims end in any case
		t.d.complain(ctx, "take back the claims of lost jobs", err)
		return
	}
	t.d.Log.InfoContext(ctx, "dispatcher: claims of lost jobs taken back", "deliveries", n)
}
