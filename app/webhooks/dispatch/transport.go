package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

const awayMessage = "dispatcher: the queue is away, delivering from here until it is back"

const (
	// The time between two tests of the queue in Redis while it is unreachable.
	probeEvery = 250 * time.Millisecond
	// The number of successful tests in a row after which the queue is used again. Each return to a queue that fails
	// again delays a batch by settleSpan.
	testsToReturn = 4
	epochEvery    = time.Second
	tidyEvery     = time.Hour
	// lossDelay is the time between the loss of the queue's jobs and the moment when their deliveries are
	// dispatched again. Workers that had taken their jobs before the loss finish meanwhile.
	lossDelay = 2 * time.Second
	// recordSpan is the longest usual time from the end of a POST to the commit of its record.
	recordSpan = time.Second
)

// settleSpan returns how long after a claim of a delivery was withdrawn its POST may still be unrecorded. An
// earlier second POST would reach a slow endpoint twice.
func (t *transport) settleSpan() time.Duration {
	return webhook.MaxSubscriptionCacheAge + t.d.config.Timeout + recordSpan
}

func (t *transport) leave(ctx context.Context, err error) {
	if t.away.CompareAndSwap(false, true) {
		t.d.Metrics.SetQueueMode(webhookports.QueueModeDirect)
		t.queue.RecordFailure(ctx, awayMessage, "error", err)
	}
}

// renewed runs jobs in this process that may or may not have reached the queue. New claims of deliveries make a
// job in the queue ineffective.
func (t *transport) renewed(ctx context.Context, jobs []webhookports.DeliveryJob) {
	var again []webhookports.DeliveryJob
	for _, j := range jobs {
		claims, err := t.d.Work.RenewClaims(context.WithoutCancel(ctx), j.Claims, t.settleSpan()+t.d.config.Lease)
		if err != nil {
			// After this error nothing is lost: the deliveries are found again when the leases of their claims end.
			t.d.complain(ctx, "renew claims", err)
			continue
		}
		j.Claims = claims
		again = append(again, j)
	}
	failpoint.Hit("transport.renewed")
	t.d.posts.Go(func() {
		// A shutdown ends this pause early; the workers then give up the deliveries instead of sending them.
		pause(ctx, t.settleSpan())
		t.local(ctx, again)
	})
}

func (t *transport) local(ctx context.Context, jobs []webhookports.DeliveryJob) {
	for _, j := range jobs {
		t.d.submit(ctx, j, func() {})
	}
	failpoint.Hit("transport.local")
}

// watch detects that the queue takes no jobs, that the queue works again, and that the queue lost its jobs
// (delivery.md, point 8).
func (t *transport) watch(ctx context.Context) {
	t.d.Metrics.SetQueueMode(webhookports.QueueModeQueued)
	var tidied time.Time
	for every := epochEvery; pause(ctx, every); {
		every = probeEvery
		if t.away.Load() && !t.returned(ctx) {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, queueTimeout)
		lost, err := t.d.Queue.DetectLoss(bounded)
		cancel()
		if err != nil && ctx.Err() == nil {
			// Stop the use of the queue before the next job is sent to it, which would be delayed by settleSpan.
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
			if err := t.d.Queue.DeleteArchived(ctx); err != nil {
				t.d.complain(ctx, "tidy the queue", err)
			}
		}
	}
}

// returned tests the queue, and reports whether jobs go through the queue again after enough successes.
func (t *transport) returned(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	err := t.d.Queue.CheckWritable(bounded)
	if err != nil {
		t.passed = 0
		if ctx.Err() == nil {
			t.queue.RecordFailure(ctx, awayMessage, "error", err)
		}
		return false
	}
	if t.passed++; t.passed < testsToReturn {
		return false
	}
	t.passed = 0
	t.away.Store(false)
	t.d.Metrics.SetQueueMode(webhookports.QueueModeQueued)
	t.queue.EndOutage(ctx, "dispatcher: the queue is back")
	return true
}

// recover makes the deliveries of jobs that the queue lost due again.
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
		// After this error nothing is lost: the deliveries of the lost jobs are found again when their leases end.
		t.d.complain(ctx, "take back the claims of lost jobs", err)
		return
	}
	t.d.Log.InfoContext(ctx, "dispatcher: claims of lost jobs taken back", "deliveries", n)
}
