package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

var ready = prometheus.NewDesc("svc_ready",
	"1 while the check passes; the check process tells whether the process takes work.", []string{"check"}, nil)

// Ready registers svc_ready. passing gives the checks of the process, and costs no query.
func (r *Registry) Ready(passing func() map[string]bool) {
	r.prometheus.MustRegister(readiness(passing))
}

type readiness func() map[string]bool

// Describe implements prometheus.Collector.
func (r readiness) Describe(ch chan<- *prometheus.Desc) { ch <- ready }

// Collect implements prometheus.Collector.
func (r readiness) Collect(ch chan<- prometheus.Metric) {
	checks := r()
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		gauge(ch, ready, oneIf(checks[name]), name)
	}
}
