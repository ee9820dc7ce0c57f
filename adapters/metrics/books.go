package metrics

import "github.com/prometheus/client_golang/prometheus"

// Books exports the result of comparing the service's stored payments with the payment provider's records.
type Books struct{ differences prometheus.Gauge }

// RegisterBooks registers the metric svc_reconcile_differences: the differences between the service's stored payments
// and the payment provider's records.
func (r *Registry) RegisterBooks() *Books {
	b := &Books{differences: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "svc_reconcile_differences",
		Help: "Differences of our books and the payment provider's in the last daily comparison; should be zero.",
	})}
	r.prometheus.MustRegister(b.differences)
	return b
}

// SetDifferences sets the gauge to the number of differences that the last comparison with the payment provider's
// records found.
func (b *Books) SetDifferences(n int) { b.differences.Set(float64(n)) }
