package webhooks

import (
	"time"

	"partnerdeposits/core/webhook"
)

// DispatchMetrics counts the work of the dispatcher (metrics.md, "Names"). Labels have a fixed set of values
// and are never ids. A parameter traceID is the recorded trace of a measured time, for its exemplar; "" for
// none (ports.RecordedTraceIDOf).
type DispatchMetrics interface {
	CountRelayed(events int)
	CountRecovered(deliveries int)
	CountAttempt(event webhook.EventName, result webhook.AttemptResult, took time.Duration, traceID string)
	// CountFinished counts a delivery that has ended, after the commit of its final state. latency is the time since
	// the commit of the change behind the event.
	CountFinished(event webhook.EventName, outcome webhook.DeliveryStatus, latency time.Duration, traceID string)
	// ObserveHealthyLatency measures the latency of a first attempt that succeeded at a healthy endpoint, if its start
	// delay was measured (AttemptOutcome.StartDelay).
	ObserveHealthyLatency(latency time.Duration, traceID string)
	// AddInFlight changes the number of POSTs in flight in a lane (fast or slow) by delta.
	AddInFlight(lane string, delta int)
	ObserveStartDelay(delay time.Duration, traceID string)
	// SetQueueMode sets the metric that shows whether jobs go through the queue in Redis or straight to the workers.
	SetQueueMode(mode QueueMode)
}
