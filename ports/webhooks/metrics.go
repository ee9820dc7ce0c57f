package webhooks

import (
	"time"

	"partnerdeposits/core/webhook"
)

// DispatchMetrics counts the work of the dispatcher (metrics.md, "Names"). Labels have a fixed set of values
// and are never ids. A parameter traceID is the recorded trace of a measured time, for its exemplar; "" for
// none (ports.RecordedTraceOf).
type DispatchMetrics interface {
	Relayed(events int)
	// Recovered counts deliveries that were dispatched again because their first dispatcher died before the end of
	// its lease.
	Recovered(deliveries int)
	Attempted(event webhook.EventName, result webhook.Result, took time.Duration, traceID string)
	// Finished counts a delivery that has ended, after the commit of its final state. latency is the time since
	// the commit of the change behind the event.
	Finished(event webhook.EventName, outcome webhook.Status, latency time.Duration, traceID string)
	// ReachedHealthy measures the latency of a first attempt that succeeded at a healthy endpoint, without the
	// time in which the endpoint held its deliveries back.
	ReachedHealthy(latency time.Duration, traceID string)
	// Inflight changes the number of POSTs in flight in a lane, the fast or the slow queue, by delta.
	Inflight(lane string, delta int)
	// Started measures how late the POST of a delivery to a healthy endpoint began, without the time in which the
	// endpoint held its deliveries back.
	Started(delay time.Duration, traceID string)
	// QueueMode sets the metric that shows whether jobs go through the queue in Redis or straight to the workers.
	QueueMode(mode QueueMode)
}
