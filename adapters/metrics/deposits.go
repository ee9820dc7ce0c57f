package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"partnerdeposits/core/deposit"
)

// Deposits implements ports.DepositMetrics.
type Deposits struct{ transitions *prometheus.CounterVec }

// Deposits registers the metrics of deposits.
func (r *Registry) Deposits() *Deposits {
	d := &Deposits{transitions: r.counters("svc_deposits_transitions_total", "Steps in the life of deposits, by whose doing they were.", "from", "to", "by")}
	for _, from := range deposit.Statuses {
		for _, trigger := range deposit.Triggers {
			to, err := from.Next(trigger)
			if err != nil {
				continue
			}
			d.transitions.WithLabelValues(string(from), string(to), trigger.By())
			if trigger == deposit.Claim || trigger == deposit.Released { // either side may take these transitions
				d.transitions.WithLabelValues(string(from), string(to), deposit.CancelledByPartner.By())
			}
		}
	}
	return d
}

// Transitioned counts a committed transition.
func (d *Deposits) Transitioned(from, to deposit.Status, by string) {
	d.transitions.WithLabelValues(string(from), string(to), by).Inc()
}
