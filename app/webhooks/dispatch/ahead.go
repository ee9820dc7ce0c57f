package dispatch

import (
	"context"
	"slices"
	"time"

	webhookports "partnerdeposits/ports/webhooks"
)

const (
	// aheadMost is how many claims of a relay go to the queue before their commit. More of them come at a rate at which a
	// round trip less is no gain, and their workers would only wait.
	aheadMost = 8
	// aheadPatience is less than the time for which a worker looks for a delivery that is not committed. After a longer
	// commit the claims go to the queue again, since their worker may have given them up.
	aheadPatience = awaitMost
	// aheadPause is the time after a relay that failed in which no claim goes ahead of its commit. The worker of a job of
	// that relay may still look for the delivery, and would take the next job for its own.
	aheadPause = 2 * time.Second
)

// handover brings the claims of a relay to workers. A few claims that this process keeps go to the queue while they are
// committed: the two round trips take place side by side, and the worker waits for the commit
// (docs/decisions/0004-path-of-an-event.md).
type handover struct {
	t     *transport
	plans int                // so often the relay has planned
	jobs  []webhookports.Job // that go before the commit
	began time.Time
	done  chan struct{} // closed when the queue has them; nil: there are none

	left []webhookports.Job // of jobs, after an error
	err  error
}

// ahead hands claims over that are about to be committed.
func (h *handover) ahead(ctx context.Context, claims []webhookports.Claim) {
	d := h.t.d
	h.began = d.Clock.Now()
	if len(claims) > aheadMost || h.t.away.Load() || h.began.Before(d.aheadFrom) || !d.BellWorks() {
		return // without a bell, other processes poll the queue all the time
	}
	jobs := h.t.jobs(claims, false)
	for i := range jobs {
		if jobs[i].Ahead = true; !jobs[i].Kept {
			return // another process would look for the deliveries too early
		}
	}
	h.jobs, h.done = jobs, make(chan struct{})
	go func() {
		defer close(h.done)
		h.left, h.err = h.t.enqueue(ctx, jobs)
	}()
}

// finish hands over what is left of the claims that were committed.
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
	return slices.ContainsFunc(h.jobs, func(j webhookports.Job) bool {
		return slices.ContainsFunc(j.Claims, func(sent webhookports.Claim) bool { return sent.DeliveryID == c.DeliveryID })
	})
}
