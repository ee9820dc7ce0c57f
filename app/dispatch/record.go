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

// record is an outcome on its way into the database.
type record struct {
	ctx     context.Context // without an end
	outcome ports.Outcome
	err     error
}

// recordBatch commits outcomes and tells each caller how that went.
func (d *Dispatcher) recordBatch(records []*record) {
	d.commit(records[0].ctx, records)
}

// commit writes a batch of outcomes in one transaction. While the database is away it tries again: the POSTs were made,
// and an outcome that is lost repeats its POST. A batch that the database refuses is split until the refused outcome
// stands alone.
func (d *Dispatcher) commit(ctx context.Context, records []*record) {
	outcomes := make([]ports.Outcome, len(records))
	for i, r := range records {
		outcomes[i] = r.outcome
	}
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		failpoint.Hit("record.begun")
		settled, health, err := d.Work.Record(ctx, outcomes, unhealthy(outcomes), d.config.EndpointConcurrency)
		switch {
		case err == nil:
			failpoint.Hit("record.committed")
			d.adjust(ctx, health)
			d.disableFailing(ctx, health)
			d.count(outcomes, settled)
			return
		case errors.Is(err, fault.ErrUnavailable):
			d.complain(ctx, "record attempts", err)
			pause(ctx, wait)
		case len(records) == 1:
			records[0].err = err
			return
		default:
			middle := len(records) / 2
			d.commit(ctx, records[:middle])
			d.commit(ctx, records[middle:])
			return
		}
	}
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

// count adds the deliveries that ended to the metrics.
func (d *Dispatcher) count(outcomes []ports.Outcome, settled []bool) {
	for i, o := range outcomes {
		if settled[i] && o.Verdict.State != webhook.Waiting {
			ended := o.Attempt.StartedAt.Add(o.Attempt.Duration)
			d.Metrics.Finished(o.Event, webhook.StatusOf(o.Verdict.State, o.Attempt.Number), ended.Sub(o.EventAt))
		}
	}
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
