package ports

import (
	"context"
	"strings"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
)

// Who makes deposits, as svc_deposits_created_total labels them.
const (
	DepositByPartner  = "partner"
	DepositByOperator = "operator"
)

// DepositAuthors lists who makes deposits.
var DepositAuthors = []string{DepositByPartner, DepositByOperator}

// DepositMetrics counts new deposits and transitions of deposits (metrics.md, "Names").
type DepositMetrics interface {
	// Created counts a new deposit, after the commit. by is one of DepositAuthors.
	Created(by string)
	// Transitioned counts a transition, after the commit. by is a tenant, partner, operator or the clock.
	Transitioned(from, to deposit.Status, by actor.Kind)
}

// PaymentResult is an answer of the payment provider, as svc_payments_total labels it.
type PaymentResult string

// The results of payments and refunds.
const (
	PaymentSucceeded   PaymentResult = "succeeded"
	PaymentRefused     PaymentResult = "refused"
	PaymentVoided      PaymentResult = "voided"      // can no longer be paid
	PaymentUnavailable PaymentResult = "unavailable" // the provider gave no answer
)

// PaymentResults lists every result.
var PaymentResults = []PaymentResult{PaymentSucceeded, PaymentRefused, PaymentVoided, PaymentUnavailable}

// PaymentMetrics counts the provider's answers (metrics.md, "Names").
type PaymentMetrics interface {
	// Answered counts an answer about a payment, after it is stored: the end of a payment, each refusal of a
	// collection, and each call without an answer.
	Answered(kind deposit.PaymentKind, result PaymentResult)
	// Refunded does the same for a refund.
	Refunded(result PaymentResult)
}

// JobMetrics counts the rounds of jobs that run by the clock (metrics.md, "Names").
type JobMetrics interface {
	// Ran counts a round that ended now. succeeded is false after an error or a panic.
	Ran(job string, succeeded bool)
}

// MailMetrics counts attempts to send a mail (metrics.md, "Names").
type MailMetrics interface {
	// Attempted counts an attempt that ended. sent tells whether the mail server took the mail.
	Attempted(sent bool)
}

// TraceIDOf is the id of the trace that a W3C traceparent names; "" for another text.
func TraceIDOf(traceParent string) string {
	parts := strings.Split(traceParent, "-")
	if len(parts) != 4 {
		return ""
	}
	return parts[1]
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

// DispatchMetrics counts the work of the dispatcher (metrics.md, "Names"). Labels are closed sets and never ids.
type DispatchMetrics interface {
	Relayed(events int)
	// Reconciled counts deliveries that were dispatched again because the lease ran out.
	Reconciled(deliveries int)
	Attempted(event webhook.EventName, result webhook.Result, took time.Duration)
	// Finished counts a delivery, after the commit of its final state. latency is the time since the commit of the
	// change.
	Finished(event webhook.EventName, outcome webhook.Status, latency time.Duration)
	// ReachedHealthy adds the latency of a first attempt that succeeded at a healthy endpoint, without the time in
	// which the endpoint held its deliveries back.
	ReachedHealthy(latency time.Duration)
	// Inflight changes the number of POSTs in flight in a lane by delta.
	Inflight(lane string, delta int)
	// Started adds the time from due to the POST of a delivery to a healthy endpoint, without the time in which the
	// endpoint held its deliveries back.
	Started(delay time.Duration)
	// QueueMode tells the way of jobs to workers from now on.
	QueueMode(mode QueueMode)
}
