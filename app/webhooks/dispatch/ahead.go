package dispatch

import (
	"context"
	"slices"
	"time"

	webhookports "partnerdeposits/ports/webhooks"
)

const (
	// aheadMost is how many claims of deliveries may go to the queue before their commit. With more claims, at a high
	// rate of events, a saved round trip is no gain and the workers would only wait.
	aheadMost = 8
	// aheadPatience is the time for which a worker searches for a delivery that is not committed. After a longer
	// commit its claim goes to the queue again.
	aheadPatience = awaitMost
	// aheadPause is the time after a failed transaction of the outbox in which no job goes to the queue before its
	// commit, because a worker may still search for the failed deliveries.
	aheadPause = 2 * time.Second
)

// handover brings claims of new deliveries to workers. A few claims that this process keeps go to the queue while
// they are committed (docs/decisions/0004-path-of-an-event.md).
type handover struct {
	t     *transport
	plans int
	jobs  []webhookports.DeliveryJob
	began time.Time
	done  chan struct{} // A channel that is closed when the queue has the jobs; nil: there are none.

	left []webhookports.DeliveryJob
	err  error
}

// ahead sends claims of deliveries to the queue before their commit, if there are few and this process has workers
// free for them.
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
