package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
)

type Deposits struct {
	transitions *prometheus.CounterVec
	created     *prometheus.CounterVec
}

func (r *Registry) RegisterDeposits() *Deposits {
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
			d.transitions.WithLabelValues(string(from), string(to), string(trigger.ActorKind()))
			// A capture or release may be requested by an operator or by a partner, so a series for each of the two exists
			// from the start.
			if trigger == deposit.TriggerCaptureRequested || trigger == deposit.TriggerReleased {
				d.transitions.WithLabelValues(string(from), string(to), string(actor.KindPartner))
			}
		}
	}
	return d
}

func (d *Deposits) CountTransition(from, to deposit.Status, by actor.Kind) {
	d.transitions.WithLabelValues(string(from), string(to), string(by)).Inc()
}

func (d *Deposits) CountCreated(by string) { d.created.WithLabelValues(by).Inc() }

type Payments struct{ results, cents *prometheus.CounterVec }

const kindRefund = "refund"

func (r *Registry) RegisterPayments() *Payments {
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

// CountResult counts a payment by the provider's answer, and its amount if it succeeded.
func (p *Payments) CountResult(kind deposit.PaymentKind, result paymentports.PaymentResult, amount money.Cents) {
	p.results.WithLabelValues(string(kind), string(result)).Inc()
	if result == paymentports.PaymentSucceeded {
		p.cents.WithLabelValues(string(kind)).Add(float64(amount))
	}
}

func (p *Payments) CountRefundResult(result paymentports.PaymentResult, amount money.Cents) {
	p.CountResult(kindRefund, result, amount)
}
