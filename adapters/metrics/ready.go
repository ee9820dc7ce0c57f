package metrics

import (
	"maps"
	"slices"
	"time"

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

var clockSkew = prometheus.NewDesc("svc_clock_skew_seconds",
	"How far Postgres's clock is ahead of this process's; left out while Postgres is away.", nil, nil)

// Clock registers svc_clock_skew_seconds. skew costs no query.
func (r *Registry) Clock(skew func() (ahead time.Duration, known bool)) {
	r.prometheus.MustRegister(clock(skew))
}

type clock func() (ahead time.Duration, known bool)

// Describe implements prometheus.Collector.
func (c clock) Describe(ch chan<- *prometheus.Desc) { ch <- clockSkew }

// Collect implements prometheus.Collector.
func (c clock) Collect(ch chan<- prometheus.Metric) {
	if ahead, known := c(); known {
		gauge(ch, clockSkew, ahead.Seconds())
	}
}
