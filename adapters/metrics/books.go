package metrics

import "github.com/prometheus/client_golang/prometheus"

type Books struct{ differences prometheus.Gauge }

// RegisterBooks registers svc_reconcile_differences: differences between the service's payments and the
// provider's records.
func (r *Registry) RegisterBooks() *Books {
	b := &Books{differences: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "svc_reconcile_differences",
		Help: "Differences of our books and the payment provider's in the last daily comparison; should be zero.",
	})}
	r.prometheus.MustRegister(b.differences)
	return b
}

func (b *Books) SetDifferences(n int) { b.differences.Set(float64(n)) }
