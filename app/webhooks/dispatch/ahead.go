package dispatch

import (
	"context"
	"slices"

	webhookports "partnerdeposits/ports/webhooks"
)

// aheadMost is how many claims of a relay go to the queue before their commit. More of them come at a rate at which a
// round trip less is no gain, and their workers would only wait.
const aheadMost = 8

// handover brings the claims of a relay to workers. A few claims that this process keeps go to the queue while they are
// committed: the two round trips take place side by side, and the worker waits for the commit
// (docs/decisions/0035-an-event-that-comes-alone.md).
type handover struct {
	t    *transport
	jobs []webhookports.Job // that go before the commit
	done chan struct{}      // closed when the queue has them; nil: there are none

	left []webhookports.Job // of jobs, after an error
	err  error
}

// ahead hands claims over that are about to be committed.
func (h *handover) ahead(ctx context.Context, claims []webhookports.Claim) {
	if len(claims) > aheadMost || h.t.away.Load() {
		return
	}
	jobs := h.t.jobs(claims, false)
	if slices.ContainsFunc(jobs, func(j webhookports.Job) bool { return !j.Kept }) {
		return // another process would look for the deliveries too early
	}
	h.jobs, h.done = jobs, make(chan struct{})
	go func() {
		defer close(h.done)
		h.left, h.err = h.t.enqueue(ctx, jobs)
	}()
}

// finish hands over what is left of the claims that were committed; none after a relay that failed.
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
	h.t.send(ctx, slices.DeleteFunc(committed, h.sent), false)
}

func (h *handover) sent(c webhookports.Claim) bool {
	return slices.ContainsFunc(h.jobs, func(j webhookports.Job) bool {
		return slices.ContainsFunc(j.Claims, func(sent webhookports.Claim) bool { return sent.DeliveryID == c.DeliveryID })
	})
}
