package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// putOff ends a dispatch whose POST failed by a fault of this service: no attempt is used up, and the endpoint's
// health does not change.
func (d *Dispatcher) putOff(delivery *webhookports.Delivery, delay time.Duration) webhookports.AttemptOutcome {
	verdict := webhook.NewUnattemptedVerdict(int(delivery.Seq) - delivery.Attempts)
	d.started(delivery, max(delay, 0)+verdict.Wait)
	return webhookports.AttemptOutcome{Delivery: delivery, Attempt: webhook.Attempt{Number: delivery.Attempts},
		StartDelay: -1,
		Verdict:    verdict}
}

// started measures how late the POST of a delivery to a healthy endpoint began; delay < 0: not known.
func (d *Dispatcher) started(delivery *webhookports.Delivery, delay time.Duration) {
	if delivery.Healthy && delay >= 0 {
		d.Metrics.ObserveStartDelay(delay, ports.RecordedTraceIDOf(delivery.TraceParent))
	}
}

func testers(outcomes []webhookports.AttemptOutcome) (partners []id.ID) {
	for _, o := range outcomes {
		if o.Delivery.Test && !o.Delivery.PartnerID.IsZero() {
			partners = append(partners, o.Delivery.PartnerID)
		}
	}
	return partners
}

func affected(outcomes []webhookports.AttemptOutcome) []id.ID {
	var subs []id.ID
	seen := map[id.ID]bool{}
	for _, o := range outcomes {
		sub := o.Delivery.SubscriptionID
		if seen[sub] || !o.Attempt.WasMade() ||
			(o.Delivery.Healthy && (webhook.Health{}).AfterAttempt(o.Attempt, 1, o.Attempt.StartedAt).Flawless()) {
			continue
		}
		seen[sub] = true
		subs = append(subs, sub)
	}
	return subs
}

// awaitRetries makes the search for due deliveries begin earlier, for retries that are due before its next
// regular run.
func (d *Dispatcher) awaitRetries(outcomes []webhookports.AttemptOutcome) {
	for _, o := range outcomes {
		if wakesScan(o.Verdict) {
			time.AfterFunc(o.Verdict.Wait, func() { signal(d.due) })
		}
	}
}

func wakesScan(v webhook.DeliveryVerdict) bool {
	return v.State == webhook.DeliveryStateWaiting && v.Wait < calmPoll
}

func (d *Dispatcher) countFinished(outcomes []webhookports.AttemptOutcome, settled []bool) {
	for i, o := range outcomes {
		if settled[i] && o.Verdict.State != webhook.DeliveryStateWaiting {
			ended := o.Attempt.StartedAt.Add(o.Attempt.Duration)
			latency := ended.Sub(o.Delivery.EventAt)
			traceID := ports.RecordedTraceIDOf(o.Delivery.TraceParent)
			d.Metrics.CountFinished(o.Delivery.Event, webhook.DeliveryStatusOf(o.Verdict.State, o.Attempt.Number), latency,
				traceID)
			if own, counts := ownLatency(o); counts {
				d.Metrics.ObserveHealthyLatency(own, traceID)
			}
		}
	}
}

// ownLatency returns the time from when a delivery was due to the 2xx response; counts is false unless it was a
// first attempt at a healthy endpoint whose start delay is known.
func ownLatency(o webhookports.AttemptOutcome) (latency time.Duration, counts bool) {
	if !o.Attempt.OK() || !o.Delivery.Healthy || o.Attempt.Number > 1 || o.StartDelay < 0 {
		return 0, false
	}
	return o.StartDelay + o.Attempt.Duration, true
}

// adjust applies endpoint health that was just recorded to the deliveries in flight, and disables subscriptions
// that failed too long, unless the service's own internet connection is broken.
func (d *Dispatcher) adjust(ctx context.Context, health map[id.ID]webhook.Health) {
	if surplus := d.registry.adjust(health); len(surplus) > 0 {
		go d.giveBack(ctx, surplus)
	}
	now := d.Clock.Now()
	for sub, h := range health {
		if !h.ShouldDisable(now) || d.outbound.broken.Load() {
			continue
		}
		if err := d.Work.DisableSubscription(ctx, sub); err != nil {
			d.complain(ctx, "disable a failing subscription", err)
		}
	}
}
