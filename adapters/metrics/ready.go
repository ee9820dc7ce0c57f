package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	ready = prometheus.NewDesc("svc_ready",
		"1 while the check passes; the check process tells whether the process takes work.", []string{"check"}, nil)
	writesFailing = prometheus.NewDesc("svc_writes_failing",
		"1 for the cause for which the last try of a write in Postgres failed.", []string{"cause"}, nil)
)

// RegisterReadiness registers the gauge svc_ready. passing makes no query.
func (r *Registry) RegisterReadiness(passing func() map[string]bool) {
	r.prometheus.MustRegister(readinessCollector(passing))
}

type readinessCollector func() map[string]bool

func (r readinessCollector) Describe(ch chan<- *prometheus.Desc) { ch <- ready }

func (r readinessCollector) Collect(ch chan<- prometheus.Metric) {
	checks := r()
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		gauge(ch, ready, oneIf(checks[name]), name)
	}
}

// RegisterFailingWrites registers the gauge svc_writes_failing. failing returns the present cause, or "", and
// makes no query.
func (r *Registry) RegisterFailingWrites(causes []string, failing func() string) {
	r.prometheus.MustRegister(failingWritesCollector{causes, failing})
}

type failingWritesCollector struct {
	causes  []string
	failing func() string
}

func (w failingWritesCollector) Describe(ch chan<- *prometheus.Desc) { ch <- writesFailing }

func (w failingWritesCollector) Collect(ch chan<- prometheus.Metric) {
	present := w.failing()
	for _, cause := range w.causes {
		gauge(ch, writesFailing, oneIf(cause == present), cause)
	}
}

var clockSkew = prometheus.NewDesc("svc_clock_skew_seconds",
	"How far Postgres's clock is ahead of this process's; left out while Postgres is away.", nil, nil)

// RegisterClockSkew registers svc_clock_skew_seconds: how far Postgres's clock is ahead.
func (r *Registry) RegisterClockSkew(skew func() (ahead time.Duration, known bool)) {
	r.prometheus.MustRegister(clockSkewCollector(skew))
}

type clockSkewCollector func() (ahead time.Duration, known bool)

func (c clockSkewCollector) Describe(ch chan<- *prometheus.Desc) { ch <- clockSkew }

func (c clockSkewCollector) Collect(ch chan<- prometheus.Metric) {
	if ahead, known := c(); known {
		gauge(ch, clockSkew, ahead.Seconds())
	}
}
