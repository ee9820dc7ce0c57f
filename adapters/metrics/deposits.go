package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
)

// Deposits implements depositports.DepositMetrics.
type Deposits struct {
	transitions *prometheus.CounterVec
	created     *prometheus.CounterVec
}

// Deposits registers the metrics of deposits.
func (r *Registry) Deposits() *Deposits {
	d := &Deposits{
		transitions: r.counters("svc_deposits_transitions_total", "Steps in the life of deposits, by whose doing they were.",
			"from", "to", "by"),
		created: r.counters("svc_deposits_created_total", "Deposits made, by whose doing they were.", "by"),
	}
	for _, by := range depositports.DepositAuthors {
		d.created.WithLabelValues(by)
	}
	for _, from := range deposit.Statuses {
		for _, trigger := range deposit.Triggers {
			to, err := from.Next(trigger)
			if err != nil {
				continue
			}
			d.transitions.WithLabelValues(string(from), string(to), string(trigger.By()))
			if trigger == deposit.CaptureRequested || trigger == deposit.Released { // either side may take these transitions
				d.transitions.WithLabelValues(string(from), string(to), string(actor.KindPartner))
			}
		}
	}
	return d
}

// Transitioned counts a committed transition.
func (d *Deposits) Transitioned(from, to deposit.Status, by actor.Kind) {
	d.transitions.WithLabelValues(string(from), string(to), string(by)).Inc()
}

// Created counts a deposit that was made.
func (d *Deposits) Created(by string) { d.created.WithLabelValues(by).Inc() }

// Payments implements paymentports.PaymentMetrics.
type Payments struct{ results, cents *prometheus.CounterVec }

// kindRefund is the label of refunds beside the kinds of payments.
const kindRefund = "refund"

// Payments registers the metric of payments.
func (r *Registry) Payments() *Payments {
	p := &Payments{
		results: r.counters("svc_payments_total",
			"Answers of the payment provider about payments and refunds, and calls without an answer.", "kind", "result"),
		cents: r.counters("svc_payments_cents_total", "Cents of payments and refunds that succeeded.", "kind"),
	}
	for _, kind := range append([]deposit.PaymentKind{kindRefund}, deposit.PaymentKinds...) {
		for _, result := range paymentports.PaymentResults {
			p.results.WithLabelValues(string(kind), string(result))
		}
		p.cents.WithLabelValues(string(kind))
	}
	return p
}

// Answered counts an answer about a payment.
func (p *Payments) Answered(kind deposit.PaymentKind, result paymentports.PaymentResult, amount money.Cents) {
	p.results.WithLabelValues(string(kind), string(result)).Inc()
	if result == paymentports.PaymentSucceeded {
		p.cents.WithLabelValues(string(kind)).Add(float64(amount))
	}
}

// Refunded counts an answer about a refund.
func (p *Payments) Refunded(result paymentports.PaymentResult, amount money.Cents) {
	p.Answered(kindRefund, result, amount)
}
