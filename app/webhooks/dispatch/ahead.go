package dispatch

import (
	"context"
	"slices"
	"time"

	webhookports "partnerdeposits/ports/webhooks"
)

const (
	// aheadMost is how many claims (rights to attempt a delivery) may go to the queue before their commit. With
	// more claims, at a high rate of events, a saved round trip is no gain and the workers would only wait.
	aheadMost = 8
	// aheadPatience is the time for which a worker searches for a delivery that is not committed. After a longer
	// commit the delivery's claim goes to the queue again, since the worker may have given it up.
	aheadPatience = awaitMost
	// aheadPause is the time after a failed transaction of the outbox in which no job goes to the queue before its
	// commit. The worker of a job of the failed transaction may still search for the delivery, and would take the
	// next job for its own.
	aheadPause = 2 * time.Second
)

// handover brings claims (rights to attempt new deliveries) to workers. If there are only a few, which this
// process keeps, they go to the queue while they are committed: the two round trips take place at the same
// time, and the worker waits for the commit (docs/decisions/0004-path-of-an-event.md).
type handover struct {
	t     *transport
	plans int                        // How often the transaction that makes the deliveries has been tried.
	jobs  []webhookports.DeliveryJob // The jobs that go to the queue before the transaction with their deliveries commits.
	began time.Time
	done  chan struct{} // A channel that is closed when the queue has the jobs; nil: there are none.

	left []webhookports.DeliveryJob // The jobs that could not be enqueued, after an error.
	err  error
}

// ahead sends claims (rights to attempt a delivery) to the queue before their commit, if there are few and this
// process has workers free for them.
func (h *handover) ahead(ctx context.Context, claims []webhookports.Claim) {
	d := h.t.d
	h.began = d.Clock.Now()
	if len(claims) > aheadMost || h.t.away.Load() || h.began.Before(d.aheadFrom) || !d.BellWorks() {
		// Without wake-up notifications other processes poll the queue all the time, and would get the job before its
		// commit.
		return
	}
	jobs := h.t.jobs(claims, false)
	for i := range jobs {
		if jobs[i].Ahead = true; !jobs[i].Kept {
			return // Another process would get the job, and search for its deliveries before their commit.
		}
	}
	h.jobs, h.done = jobs, make(chan struct{})
	go func() {
		defer close(h.done)
		h.left, h.err = h.t.enqueue(ctx, jobs)
	}()
}

// finish sends those committed claims (rights to attempt a delivery) to workers that were not sent before their
// commit.
func (h *handover) finish(ctx context.Context, committed []webhookports.Claim) {
	if h.done == nil {
		h.t.send(ctx, committed, false)
		return
	}
	<-h.done
	if h.err != nil {
		h.t.leave(ctx, h.err)
		h.t.renewed(ctx, h.left)
	}
	if h.plans == 1 && h.t.d.Clock.Now().Sub(h.began) < aheadPatience {
		committed = slices.DeleteFunc(committed, h.sent)
	}
	h.t.send(ctx, committed, false)
}

func (h *handover) sent(c webhookports.Claim) bool {
	return slices.ContainsFunc(h.jobs, func(j webhookports.DeliveryJob) bool {
		return slices.ContainsFunc(j.Claims, func(sent webhookports.Claim) bool { return sent.DeliveryID == c.DeliveryID })
	})
}
