package ports

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
)

// DepositMetrics counts transitions of deposits (operations.md, "Metrics").
type DepositMetrics interface {
	// Transitioned counts a transition, after the commit. by names the actor: tenant, partner, operator or scheduler.
	Transitioned(from, to deposit.Status, by string)
}

// DispatchMetrics counts the work of the dispatcher (operations.md, "Metrics"). Labels are closed sets and never ids.
type DispatchMetrics interface {
	Relayed(events int)
	// Reconciled counts deliveries that were dispatched again because the lease ran out.
	Reconciled(deliveries int)
	Attempted(event webhook.EventName, result webhook.Result, took time.Duration)
	// Finished counts a delivery, after the commit of its final state. latency is the time since the commit of the change.
	Finished(event webhook.EventName, outcome webhook.Status, latency time.Duration)
	QueueMetrics
}

// QueueMetrics tells how jobs reach workers, and how many POSTs the workers have in flight (operations.md, "Metrics").
type QueueMetrics interface {
	// Inflight changes the number of POSTs in flight in a lane by delta.
	Inflight(lane string, delta int)
	// QueueMode tells the way of jobs to workers from now on.
	QueueMode(mode QueueMode)
}

// JobMetrics counts the rounds of jobs that run by the clock (operations.md, "Metrics").
type JobMetrics interface {
	// Ran counts a round that ended now. succeeded is false after an error or a panic.
	Ran(job string, succeeded bool)
}

type requestIDKey struct{}

// WithRequestID returns a context that belongs to a request, so that log lines can name the request.
func WithRequestID(ctx context.Context, requestID string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, requestID)
}

// RequestIDOf returns the id of the request that ctx belongs to; "" outside a request.
func RequestIDOf(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey{}).(string)
	return s
}
