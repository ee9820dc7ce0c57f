// Package metrics is the service's Prometheus registry (metrics.md, "Names"). Labels are closed sets: never a
// partner, an endpoint or an id. Every series with known labels exists from the start, at zero, so that its first
// increase is visible.
package metrics

import (
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type Registry struct {
	prometheus *prometheus.Registry
	log        *slog.Logger
}

// NewRegistry makes a Prometheus registry with metrics of the Go runtime and of the process.
func NewRegistry(log *slog.Logger) *Registry {
	r := &Registry{prometheus: prometheus.NewRegistry(), log: log}
	r.prometheus.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// RegisterBuildInfo registers the metric svc_build_info; date is in RFC 3339.
func (r *Registry) RegisterBuildInfo(version, revision, date string) {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "svc_build_info", Help: "Always 1; the labels tell which build this is.",
	}, []string{"version", "revision", "go_version", "date"})
	info.WithLabelValues(version, revision, runtime.Version(), date).Set(1)
	r.prometheus.MustRegister(info)
}

// RegisterDroppedLogLines registers the counter of log lines that were dropped because the log's reader was too
// slow.
func (r *Registry) RegisterDroppedLogLines(dropped func() uint64) {
	r.prometheus.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "svc_log_lines_dropped_total", Help: "Lines of the log that its reader did not take.",
	}, func() float64 { return float64(dropped()) }))
}

// Handler serves the metrics; the series of a failing collector are left out. With exemplars it also offers
// OpenMetrics, which writes le="5.0" where others write le="5".
func (r *Registry) Handler(exemplars bool) http.Handler {
	return promhttp.HandlerFor(r.prometheus, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      scrapeErrorLogger{r.log},
		Registry:      r.prometheus,

		EnableOpenMetrics: exemplars,
	})
}

type scrapeErrorLogger struct{ log *slog.Logger }

func (l scrapeErrorLogger) Println(v ...any) {
	if len(v) > 0 {
		l.log.Warn("metrics cannot be gathered", "reason", v)
	}
}

func (r *Registry) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.prometheus.MustRegister(v)
	return v
}

func (r *Registry) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	r.prometheus.MustRegister(c)
	return c
}

// observe records a duration in a histogram, with the id of its trace as an exemplar; "" for none.
func observe(o prometheus.Observer, took time.Duration, traceID string) {
	if with, can := o.(prometheus.ExemplarObserver); can && traceID != "" {
		with.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": traceID})
		return
	}
	o.Observe(took.Seconds())
}

func (r *Registry) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	r.prometheus.MustRegister(v)
	return v
}

func (r *Registry) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	r.prometheus.MustRegister(h)
	return h
}
