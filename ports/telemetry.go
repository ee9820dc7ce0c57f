package ports

import (
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
)

// DepositMetrics counts what happens to deposits (operations.md, "Metrics").
type DepositMetrics interface {
	// Transitioned is called after the commit of a step.
	Transitioned(from, to deposit.Status, by string)
}

// DispatchMetrics counts what the dispatcher does. Labels are closed sets; no id is ever one.
type DispatchMetrics interface {
	Relayed(events int)
	// Reconciled counts deliveries whose lease ran out and that were dispatched again.
	Reconciled(deliveries int)
	Attempted(event webhook.EventName, result webhook.Result, took time.Duration)
	// Finished is called once a delivery's last state is committed; latency counts from the commit of the change.
	Finished(event webhook.EventName, outcome webhook.Status, latency time.Duration)
	// Inflight moves the number of POSTs under way in a lane by delta.
	Inflight(lane string, delta int)
}
