package dispatch

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// recorded is what the recorder answers: whether the outcome took effect.
type recorded struct{ settled bool }

// record commits a group of outcomes. While the database is away it waits for it: the POSTs were made, and forgetting
// one would make it again. A group that is refused is split until the outcome that spoils it stands alone.
func (d *Dispatcher) record(ctx context.Context, outcomes []ports.Outcome) ([]recorded, error) {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		failpoint.Hit("record.begun")
		settled, health, err := d.Work.Record(ctx, outcomes, unhealthy(outcomes), d.config.EndpointConcurrency)
		switch {
		case err == nil:
			failpoint.Hit("record.committed")
			d.adjust(ctx, health)
			d.disableFailing(ctx, health)
			return d.settle(outcomes, settled), nil
		case errors.Is(err, fault.ErrUnavailable):
			d.complain(ctx, "record attempts", err)
			if !pause(ctx, wait) {
				return nil, err
			}
		case len(outcomes) == 1:
			return nil, err
		default:
			return d.recordHalves(ctx, outcomes)
		}
	}
}

func (d *Dispatcher) recordHalves(ctx context.Context, outcomes []ports.Outcome) ([]recorded, error) {
	middle := len(outcomes) / 2
	all := make([]recorded, 0, len(outcomes))
	for _, half := range [][]ports.Outcome{outcomes[:middle], outcomes[middle:]} {
		r, err := d.record(ctx, half)
		if err != nil {
			if len(half) > 1 {
				return nil, err
			}
			d.Log.ErrorContext(ctx, "dispatcher: an attempt was refused by the database", "delivery", id.Delivery.Of(half[0].Claim.DeliveryID), "error", err)
			r = []recorded{{}}
		}
		all = append(all, r...)
	}
	return all, nil
}

// unhealthy lists the endpoints whose health these outcomes may change: a plain success at a healthy one changes nothing.
func unhealthy(outcomes []ports.Outcome) []id.ID {
	var subs []id.ID
	seen := map[id.ID]bool{}
	for _, o := range outcomes {
		sub := o.Claim.SubscriptionID
		if seen[sub] || (o.Healthy && (webhook.Health{}).After(o.Attempt, 1, o.Attempt.StartedAt).Clean()) {
			continue
		}
		seen[sub] = true
		subs = append(subs, sub)
	}
	return subs
}

// settle counts what took effect.
func (d *Dispatcher) settle(outcomes []ports.Outcome, settled []bool) []recorded {
	out := make([]recorded, len(outcomes))
	for i, o := range outcomes {
		out[i].settled = settled[i]
		if settled[i] && o.Verdict.State != webhook.Waiting {
			ended := o.Attempt.StartedAt.Add(o.Attempt.Duration)
			d.Metrics.Finished(o.Event, webhook.StatusOf(o.Verdict.State, o.Attempt.Number), ended.Sub(o.EventAt))
		}
	}
	return out
}

func (d *Dispatcher) disableFailing(ctx context.Context, health map[id.ID]webhook.Health) {
	now := d.Clock.Now()
	for sub, h := range health {
		if !h.Disable(now) {
			continue
		}
		if err := d.Work.Disable(ctx, sub, d.Entropy.NewID()); err != nil {
			d.complain(ctx, "disable a failing subscription", err)
		}
	}
}
