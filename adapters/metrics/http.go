package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestBuckets are the bounds of the histogram of request durations in seconds, up to the time limit of a
// handler.
var requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

type HTTP struct {
	requests    *prometheus.CounterVec
	inFlight    prometheus.Gauge
	duration    *prometheus.HistogramVec
	idempotency *prometheus.CounterVec
	limited     *prometheus.CounterVec
	failOpen    prometheus.Counter
}

// RegisterHTTP registers the metrics of the HTTP server. surfaces and results list all values of these labels.
func (r *Registry) RegisterHTTP(surfaces, results []string) *HTTP {
	h := &HTTP{
		requests: r.counters("svc_http_requests_total", "Requests answered.", "surface", "route", "method", "code"),
		duration: r.histograms("svc_http_request_duration_seconds", "Time from the request's headers to its answer.",
			requestBuckets, "surface", "route"),
		idempotency: r.counters("svc_idempotency_total", "Requests with an Idempotency-Key, by how they ended.", "result"),
		limited:     r.counters("svc_rate_limited_total", "Requests refused with 429.", "surface"),
		failOpen:    r.counter("svc_rate_limiter_failopen_total", "Requests let through uncounted because Redis is away."),
	}
	h.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{Name: "svc_http_requests_in_flight",
		Help: "Requests whose answer is not wholly sent, those that wait for events included."})
	r.prometheus.MustRegister(h.inFlight)
	for _, s := range surfaces {
		h.limited.WithLabelValues(s)
	}
	for _, result := range results {
		h.idempotency.WithLabelValues(result)
	}
	return h
}

// InitRoute creates the metrics of an HTTP route at zero: its duration and its server errors.
func (h *HTTP) InitRoute(surface, route, method string) {
	h.duration.WithLabelValues(surface, route)
	for _, code := range []string{"500", "503"} {
		h.requests.WithLabelValues(surface, route, method, code)
	}
}

func (h *HTTP) AddInFlight(change int) { h.inFlight.Add(float64(change)) }

// ObserveRequest counts an answered HTTP request. route is a pattern, never a path; traceID is an exemplar or
// "".
func (h *HTTP) ObserveRequest(surface, route, method string, status int, took time.Duration, traceID string) {
	h.requests.WithLabelValues(surface, route, method, strconv.Itoa(status)).Inc()
	observe(h.duration.WithLabelValues(surface, route), took, traceID)
	if status == tooManyRequests {
		h.limited.WithLabelValues(surface).Inc()
	}
}

const tooManyRequests = 429

func (h *HTTP) CountIdempotentRequest(result string) { h.idempotency.WithLabelValues(result).Inc() }

// CountLimiterFailedOpen counts a request without a rate limit, because Redis was unreachable.
func (h *HTTP) CountLimiterFailedOpen() { h.failOpen.Inc() }
