package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"partnerdeposits/ports"
)

// Bounds of reading the backlog. Concurrent scrapes share a reading for freshFor, and wait for patience at most;
// without a new reading they get the last.
const (
	freshFor = 5 * time.Second
	patience = 3 * time.Second
)

var (
	outboxPending   = prometheus.NewDesc("svc_outbox_pending", "Events that no dispatcher has taken yet.", nil, nil)
	outboxAge       = prometheus.NewDesc("svc_outbox_oldest_age_seconds", "Age of the oldest event on the outbox; 0 when it is empty.", nil, nil)
	pendingByState  = prometheus.NewDesc("svc_webhook_deliveries_pending", "Deliveries not finished; an estimate once there are very many.", []string{"state"}, nil)
	oldestDueAge    = prometheus.NewDesc("svc_webhook_oldest_due_age_seconds", "How long the oldest due delivery has been due, endpoints held back for their failures aside.", nil, nil)
	subscriptionsBy = prometheus.NewDesc("svc_webhook_subscriptions", "Webhook subscriptions by their health.", []string{"state"}, nil)
	queueDepth      = prometheus.NewDesc("svc_queue_depth", "Jobs in Redis; the backlog itself is in Postgres.", []string{"queue", "state"}, nil)
)

// Backlog registers the gauges of the backlog. Every dispatcher reports the same values: aggregate with max, never with
// sum.
func (r *Registry) Backlog(reader ports.BacklogReader) {
	r.prometheus.MustRegister(&backlog{reader: reader, log: r.log, known: ports.Backlog{}})
}

type backlog struct {
	reader ports.BacklogReader
	log    *slog.Logger

	mu    sync.Mutex
	known ports.Backlog
	until time.Time
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{outboxPending, outboxAge, pendingByState, oldestDueAge, subscriptionsBy} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(ch chan<- prometheus.Metric) {
	now := b.current()
	gauge(ch, outboxPending, float64(now.OutboxPending))
	gauge(ch, outboxAge, now.OutboxOldestAge.Seconds())
	gauge(ch, oldestDueAge, now.OldestDueAge.Seconds())
	for _, s := range ports.BacklogStates {
		gauge(ch, pendingByState, float64(now.Deliveries[s]), string(s))
	}
	for _, s := range ports.SubscriptionStates {
		gauge(ch, subscriptionsBy, float64(now.Subscriptions[s]), string(s))
	}
}

func (b *backlog) current() ports.Backlog {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.until) {
		return b.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	fresh, err := b.reader.Backlog(ctx)
	b.until = time.Now().Add(freshFor)
	if err != nil {
		b.log.Warn("the backlog cannot be counted; its gauges stay as they were", "error", err)
		return b.known
	}
	b.known = fresh
	return fresh
}

// QueueDepth counts the jobs of a queue by state.
type QueueDepth func(queue string) (map[string]int, error)

// Queues registers svc_queue_depth for the named queues. states is the closed set of its label.
func (r *Registry) Queues(names, states []string, depth QueueDepth) {
	r.prometheus.MustRegister(&queues{names: names, states: states, depth: depth, log: r.log})
}

type queues struct {
	names, states []string
	depth         QueueDepth
	log           *slog.Logger
}

// Describe implements prometheus.Collector.
func (q *queues) Describe(ch chan<- *prometheus.Desc) { ch <- queueDepth }

// Collect implements prometheus.Collector. While Redis is away the depth is 0, since its jobs cannot be reached.
func (q *queues) Collect(ch chan<- prometheus.Metric) {
	for _, name := range q.names {
		depth, err := q.depth(name)
		if err != nil {
			q.log.Debug("a queue cannot be counted", "queue", name, "error", err)
		}
		for _, state := range q.states {
			gauge(ch, queueDepth, float64(depth[state]), name, state)
		}
	}
}
