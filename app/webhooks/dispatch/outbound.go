package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// outboundEvery is the time between two reads of the health of all endpoints, while some endpoint of this
// process is in bad health.
const outboundEvery = 5 * time.Second

// watchOutbound checks whether this service's own internet connection is broken (webhook.OutboundBroken). After
// its repair, the endpoints that failed meanwhile are tried at once.
func (d *Dispatcher) watchOutbound(ctx context.Context) {
	o, now := &d.outbound, d.Clock.Now()
	if now.Sub(o.asked) < outboundEvery || o.since.IsZero() && !d.registry.unwell() {
		return
	}
	o.asked = now
	endpoints, err := d.Endpoints.Endpoints(ctx)
	if err != nil {
		d.complain(ctx, "look at the endpoints", err)
		return
	}
	since := webhook.OutboundBrokenSince(endpoints, now)
	switch {
	case !since.IsZero() && o.since.IsZero():
		d.Log.InfoContext(ctx, "dispatcher: most endpoints get no connection; holds stay short meanwhile", "since", since)
	case since.IsZero() && !o.since.IsZero():
		probed, err := d.Endpoints.ProbeEndpoints(ctx, webhookports.ProbeFilter{FailedSince: o.since})
		if err != nil {
			d.complain(ctx, "probe endpoints after a break of our own way out", err)
			return
		}
		d.Log.InfoContext(ctx, "dispatcher: endpoints get connections again", "circuits", probed.Circuits, "deliveries",
			probed.Deliveries)
		signal(d.due)
	}
	o.since = since
	o.broken.Store(!since.IsZero())
	d.OutboundBroken(!since.IsZero())
}

// excuse marks the failed attempts that the service's own broken internet connection caused, and not the
// endpoint.
func (o *outbound) excuse(outcomes []webhookports.AttemptOutcome) {
	if !o.broken.Load() {
		return
	}
	for i := range outcomes {
		outcomes[i].Excused = outcomes[i].Attempt.Unreached()
	}
}

// unwell reports whether any endpoint that this process has deliveries for is in bad health.
func (r *registry) unwell() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if !e.health.Flawless() {
			return true
		}
	}
	return false
}
