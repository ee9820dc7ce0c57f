//go:build broken_mark_before_send

package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

const (
	scans      = true
	leaseSpare = 20 * time.Second
)

// beforePost records the success of a POST that was not made: whatever becomes of it, it is not made again.
func (d *Dispatcher) beforePost(l ports.Loaded) {
	d.records.Do("", &record{ctx: context.Background(), outcome: ports.Outcome{
		Claim: l.Claim, Event: l.Event, EventAt: l.EventAt, Healthy: l.Healthy,
		Attempt: webhook.Attempt{Number: l.Attempts + 1, StartedAt: d.Clock.Now(), Result: webhook.ResultSuccess, ResponseStatus: 200},
		Verdict: webhook.Verdict{State: webhook.Succeeded},
	}})
}

func (*Dispatcher) leftToQueue(ports.Outcome) bool { return false }
func (*Dispatcher) jobEnded(ports.Job)             {}
