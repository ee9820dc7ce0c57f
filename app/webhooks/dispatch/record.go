package dispatch

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

// record writes a batch of outcomes of attempts in a transaction, and tries again while the database is
// unreachable, since a lost outcome means that its POST is repeated. A batch that the database refuses is split
// until the refused outcome is alone.
func (d *Dispatcher) record(ctx context.Context, outcomes []webhookports.AttemptOutcome) {
	d.successes.tell(outcomes, d.Clock.Now())
	d.outbound.excuse(outcomes)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		failpoint.Hit("record.begun")
		settled, health, err := d.Work.RecordOutcomes(ctx, outcomes, affected(outcomes), d.config.EndpointConcurrency,
			d.Clock.Now())
		switch {
		case err == nil:
			failpoint.Hit("record.committed")
			d.adjust(ctx, health)
			d.countFinished(outcomes, settled)
			d.awaitRetries(outcomes)
			d.RingFeeds(testers(outcomes))
			return
		case errors.Is(err, fault.ErrUnavailable):
			d.complain(ctx, "record attempts", err)
			pause(ctx, wait)
		case len(outcomes) == 1:
			d.Log.ErrorContext(ctx, "dispatcher: an attempt could not be recorded; it will be made again",
				"delivery", id.Delivery.Of(outcomes[0].Delivery.DeliveryID), "error", err)
			return
		default:
			middle := len(outcomes) / 2
			d.record(ctx, outcomes[:middle])
			d.record(ctx, outcomes[middle:])
			return
		}
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
