package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

var (
	// attemptBuckets are the bounds of the histogram of POST durations in seconds. They reach beyond the 10 s limit of
	// a POST.
	attemptBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15}
	// startBuckets are the bounds of the histogram of start delays in seconds: from the time through the queue to half
	// an hour of outage.
	startBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800}
	// latencyBuckets are the bounds of the histogram of delivery times in seconds, up to the three days of the
	// retry schedule.
	latencyBuckets = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 28800, 86400, 259200}
)

type Dispatch struct {
	relayed    prometheus.Counter
	reconciled prometheus.Counter
	attempts   *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	latency    *prometheus.HistogramVec
	healthy    prometheus.Histogram
	start      prometheus.Histogram
	finished   *prometheus.CounterVec
	inflight   *prometheus.GaugeVec
	mode       *prometheus.GaugeVec
}

func (r *Registry) RegisterDispatch() *Dispatch {
	d := &Dispatch{
		relayed:    r.counter("svc_outbox_relayed_total", "Events taken off the outbox."),
		reconciled: r.counter("svc_webhook_reconciled_total", "Deliveries dispatched again because their lease ran out."),
		attempts:   r.counters("svc_webhook_attempts_total", "POSTs made, by event and how they ended.", "event", "result"),
		duration:   r.histograms("svc_webhook_attempt_duration_seconds", "Time of a POST.", attemptBuckets, "result"),
		latency: r.histograms("svc_webhook_delivery_latency_seconds",
			"From the commit of the change to the receiver's 2xx.", latencyBuckets, "event"),
		finished: r.counters("svc_webhook_deliveries_finished_total", "Deliveries that came to an end.", "event", "outcome"),
	}
	d.healthy = r.histogram("svc_webhook_healthy_delivery_latency_seconds",
		"From the commit of the change to the 2xx of a first attempt, of healthy endpoints, unless the endpoint held the delivery back.",
		latencyBuckets)
	d.start = r.histogram("svc_webhook_start_delay_seconds",
		"From the commit of the change to the POST of a first attempt, of healthy endpoints, unless the endpoint held the delivery back.",
		startBuckets)
	d.inflight = prometheus.NewGaugeVec(
		prometheus.GaugeOpts{Name: "svc_webhook_inflight", Help: "POSTs under way in this process."}, []string{"lane"})
	d.mode = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "svc_queue_mode", Help: "1 for the way of jobs to workers: through Redis, or direct while Redis takes no jobs.",
	}, []string{"mode"})
	r.prometheus.MustRegister(d.inflight, d.mode)
	for _, mode := range webhookports.QueueModes {
		d.mode.WithLabelValues(string(mode))
	}
	for _, event := range webhook.EventNames {
		d.latency.WithLabelValues(string(event))
		for _, result := range webhook.AttemptResults {
			d.attempts.WithLabelValues(string(event), string(result))
		}
		for _, outcome := range []webhook.DeliveryStatus{webhook.StatusSucceeded, webhook.StatusFailed} {
			d.finished.WithLabelValues(string(event), string(outcome))
		}
	}
	for _, result := range webhook.AttemptResults {
		d.duration.WithLabelValues(string(result))
	}
	for _, lane := range webhookports.Lanes {
		d.inflight.WithLabelValues(string(lane))
	}
	return d
}

func (d *Dispatch) CountRelayed(events int) { d.relayed.Add(float64(events)) }

// CountRecovered counts deliveries that are sent again because their dispatcher reported no result in time.
func (d *Dispatch) CountRecovered(deliveries int) { d.reconciled.Add(float64(deliveries)) }

func (d *Dispatch) CountAttempt(event webhook.EventName, result webhook.AttemptResult, took time.Duration,
	traceID string) {
	d.attempts.WithLabelValues(string(event), string(result)).Inc()
	observe(d.duration.WithLabelValues(string(result)), took, traceID)
}

// CountFinished counts a webhook delivery in its final state; its duration is recorded for successes only.
func (d *Dispatch) CountFinished(
	event webhook.EventName, outcome webhook.DeliveryStatus, latency time.Duration, traceID string,
) {
	d.finished.WithLabelValues(string(event), string(outcome)).Inc()
	if outcome == webhook.StatusSucceeded {
		observe(d.latency.WithLabelValues(string(event)), latency, traceID)
	}
}

func (d *Dispatch) ObserveHealthyLatency(latency time.Duration, traceID string) {
	observe(d.healthy, latency, traceID)
}

// ObserveStartDelay records the time from the commit of a change to the POST of its delivery.
func (d *Dispatch) ObserveStartDelay(delay time.Duration, traceID string) {
	observe(d.start, delay, traceID)
}

// AddInFlight adds delta to the gauge of POSTs in flight in a lane, fast or slow.
func (d *Dispatch) AddInFlight(lane string, delta int) {
	d.inflight.WithLabelValues(lane).Add(float64(delta))
}

// SetQueueMode sets the gauge of the way by which jobs get to workers: 1 for that way, 0 for the others.
func (d *Dispatch) SetQueueMode(mode webhookports.QueueMode) {
	for _, m := range webhookports.QueueModes {
		value := 0.0
		if m == mode {
			value = 1
		}
		d.mode.WithLabelValues(string(m)).Set(value)
	}
}
