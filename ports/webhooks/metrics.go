package webhooks

import (
	"time"

	"partnerdeposits/core/webhook"
)

// DispatchMetrics counts the work of the dispatcher (metrics.md, "Names"). Labels are closed sets and never ids.
// A parameter traceID is the recorded trace of a measured time, for its exemplar; "" for none
// (ports.RecordedTraceOf).
type DispatchMetrics interface {
	Relayed(events int)
	// Recovered counts deliveries that were dispatched again because the lease ran out.
	Recovered(deliveries int)
	Attempted(event webhook.EventName, result webhook.Result, took time.Duration, traceID string)
	// Finished counts a delivery that has ended, after the commit of its final state. latency is the time since the
	// commit of the change.
	Finished(event webhook.EventName, outcome webhook.Status, latency time.Duration, traceID string)
	// ReachedHealthy adds the latency of a first attempt that succeeded at a healthy endpoint, without the time in
	// which the endpoint held its deliveries back.
	ReachedHealthy(latency time.Duration, traceID string)
	// Inflight changes the number of POSTs in flight in a lane by delta.
	Inflight(lane string, delta int)
	// Started adds the time from due to the POST of a delivery to a healthy endpoint, without the time in which the
	// endpoint held its deliveries back.
	Started(delay time.Duration, traceID string)
	// QueueMode sets the metric of how jobs reach workers from now on.
	QueueMode(mode QueueMode)
}
