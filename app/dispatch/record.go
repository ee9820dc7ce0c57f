package dispatch

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/internal/mails"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// record writes a batch of outcomes in a transaction. While the database is away, record tries again: the POSTs were made,
// and an outcome that is lost repeats its POST. A batch that the database refuses is split until the refused outcome
// stands alone.
func (d *Dispatcher) record(ctx context.Context, outcomes []ports.Outcome) {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		failpoint.Hit("record.begun")
		settled, health, err := d.Work.Record(ctx, outcomes, affected(outcomes), d.config.EndpointConcurrency)
		switch {
		case err == nil:
			failpoint.Hit("record.committed")
			d.adjust(ctx, health)
			d.countFinished(outcomes, settled)
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

// affected lists the subscriptions whose health the outcomes may change. A quick success does not change a clean health.
func affected(outcomes []ports.Outcome) []id.ID {
	var subs []id.ID
	seen := map[id.ID]bool{}
	for _, o := range outcomes {
		sub := o.Delivery.SubscriptionID
		if seen[sub] || (o.Delivery.Healthy && (webhook.Health{}).After(o.Attempt, 1, o.Attempt.StartedAt).Clean()) {
			continue
		}
		seen[sub] = true
		subs = append(subs, sub)
	}
	return subs
}

func (d *Dispatcher) countFinished(outcomes []ports.Outcome, settled []bool) {
	for i, o := range outcomes {
		if settled[i] && o.Verdict.State != webhook.Waiting {
			ended := o.Attempt.StartedAt.Add(o.Attempt.Duration)
			d.Metrics.Finished(o.Delivery.Event, webhook.StatusOf(o.Verdict.State, o.Attempt.Number), ended.Sub(o.Delivery.EventAt))
		}
	}
}

// adjust applies health that was just recorded to the claims in flight, and disables subscriptions that failed too long.
func (d *Dispatcher) adjust(ctx context.Context, health map[id.ID]webhook.Health) {
	if surplus := d.registry.adjust(health); len(surplus) > 0 {
		go d.giveBack(ctx, surplus)
	}
	now := d.Clock.Now()
	for sub, h := range health {
		if !h.Disable(now) {
			continue
		}
		if err := d.Work.Disable(ctx, sub, func(contact, url string) ports.Mail {
			return mails.SubscriptionDisabled{Contact: contact, SubscriptionID: sub, URL: url}.Mail(d.Entropy.NewID(), now)
		}); err != nil {
			d.complain(ctx, "disable a failing subscription", err)
		}
	}
}
