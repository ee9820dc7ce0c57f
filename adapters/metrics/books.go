package metrics

import "github.com/prometheus/client_golang/prometheus"

// Books implements paymentports.BooksMetrics.
type Books struct{ differences prometheus.Gauge }

// Books registers the metric of the comparison with the payment provider's books.
func (r *Registry) Books() *Books {
	b := &Books{differences: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "svc_reconcile_differences",
		Help: "Differences of our books and the payment provider's in the last daily comparison; should be zero.",
	})}
	r.prometheus.MustRegister(b.differences)
	return b
}

// Differences sets the number of the last comparison.
func (b *Books) Differences(n int) { b.differences.Set(float64(n)) }
