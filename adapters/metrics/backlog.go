package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"partnerdeposits/core/deposit"
	"partnerdeposits/ports/platform/outage"
	webhookports "partnerdeposits/ports/webhooks"
)

// Limits on reading the gauges of backlog and queues: scrapes share a recent value, and wait a bounded time for
// a new one.
const (
	backlogFresh = 5 * time.Second
	queueFresh   = time.Second
	patience     = 3 * time.Second
)

// Sources of gauges, as the label source of svc_reading_age_seconds names them.
const (
	sourceBacklog = "backlog"
	sourceQueue   = "queue"
)

var (
	outboxPending = prometheus.NewDesc("svc_outbox_pending", "Events that no dispatcher has taken yet.", nil, nil)
	outboxAge     = prometheus.NewDesc("svc_outbox_oldest_age_seconds",
		"Age of the oldest event on the outbox; 0 when it is empty. Grows while Postgres is away.", nil, nil)
	outboxSetAside = prometheus.NewDesc("svc_outbox_set_aside",
		"Events that could not be filed and wait for an operator.", nil, nil)
	pendingByState = prometheus.NewDesc("svc_webhook_deliveries_pending",
		"Deliveries not finished; an estimate once there are very many.", []string{"state"}, nil)
	oldestDueAge = prometheus.NewDesc("svc_webhook_oldest_due_age_seconds",
		"How long the oldest due delivery has been due, endpoints held back for their failures aside. Grows while Postgres is away.",
		nil, nil)
	oldestHeldAge = prometheus.NewDesc("svc_webhook_oldest_held_age_seconds",
		"How long the oldest delivery has been due that an open circuit holds back; 0 without one. Grows while Postgres is away.",
		nil, nil)
	outboundBroken = prometheus.NewDesc("svc_webhook_outbound_broken",
		"1 while most endpoints of several partners get no connection, since they all began to fail at once.", nil, nil)
	subscriptionsBy = prometheus.NewDesc("svc_webhook_subscriptions", "Webhook subscriptions by their health.",
		[]string{"state"}, nil)
	daysAhead = prometheus.NewDesc("svc_partitions_days_ahead",
		"Days after today that have their partitions; -1: today has none.", nil, nil)
	defaultRows = prometheus.NewDesc("svc_default_partition_rows",
		"Rows of events and attempts that have no partition of their day.", nil, nil)
	mailsPending = prometheus.NewDesc("svc_mails_pending", "Mails that are neither sent nor given up.", nil, nil)
	mailsAge     = prometheus.NewDesc("svc_mails_oldest_due_age_seconds",
		"How long the oldest due mail has been due. Grows while Postgres is away.", nil, nil)
	collectionsBy = prometheus.NewDesc("svc_collections",
		"Collections of captured amounts by their state; the paid ones are an estimate once there are very many.",
		[]string{"state"}, nil)
	collectionsAge = prometheus.NewDesc("svc_collections_oldest_age_seconds",
		"Time since the capture of the oldest collection that is neither paid nor failed; 0 without one.", nil, nil)
	serverConns = prometheus.NewDesc("svc_pg_server_connections",
		"Connections of all clients to the server of Postgres.", nil, nil)
	serverMaxConns = prometheus.NewDesc("svc_pg_server_max_connections",
		"Most connections of the server for users without special rights.", nil, nil)
	deadRows = prometheus.NewDesc("svc_pg_dead_rows", "Rows that vacuum has yet to remove, as the server estimates.",
		[]string{"table"}, nil)
	queueDepth = prometheus.NewDesc("svc_queue_depth", "Jobs in Redis; the backlog itself is in Postgres.",
		[]string{"queue", "state"}, nil)
	readingAge = prometheus.NewDesc("svc_reading_age_seconds",
		"Time since the gauges of the source were read: backlog from Postgres, queue from Redis.", []string{"source"}, nil)
)

// reading caches a value of the metrics, so that scrapes read Postgres or Redis at most once in the time fresh.
type reading[T any] struct {
	read  func(ctx context.Context) (T, error)
	fresh time.Duration
	log   *outage.Log

	mu    sync.Mutex
	value T
	// When the gauges were last read; before the first success, the start of the process.
	at    time.Time
	until time.Time
	away  bool // Whether the last reading of the gauges failed.
}

func newReading[T any](log *slog.Logger, fresh time.Duration, read func(ctx context.Context) (T, error)) *reading[T] {
	return &reading[T]{read: read, fresh: fresh, log: outage.New(log), at: time.Now()}
}

// current returns the cached value, read anew if too old, and its age. away reports whether the last reading
// failed.
func (r *reading[T]) current(message string) (value T, age time.Duration, away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !time.Now().Before(r.until) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		value, err := r.read(ctx)
		now := time.Now()
		r.until = now.Add(r.fresh)
		if r.away = err != nil; r.away {
			r.log.RecordFailure(ctx, message, "error", err)
		} else {
			r.log.RecordSuccess(ctx)
			r.value, r.at = value, now
		}
	}
	return r.value, time.Since(r.at), r.away
}

// RegisterBacklog registers the gauges of what waits in Postgres. Every process exports the same values:
// aggregate with max, never with sum.
func (r *Registry) RegisterBacklog(reader webhookports.BacklogReader) {
	r.prometheus.MustRegister(&backlogCollector{newReading(r.log, backlogFresh, reader.Backlog)})
}

type backlogCollector struct{ *reading[webhookports.Backlog] }

func (b *backlogCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		outboxPending, outboxAge, outboxSetAside, pendingByState, oldestDueAge, oldestHeldAge, outboundBroken,
		subscriptionsBy, daysAhead, defaultRows,
		mailsPending, mailsAge, collectionsBy, collectionsAge, serverConns, serverMaxConns, deadRows,
	} {
		ch <- d
	}
}

// Collect exports the gauges of the backlog. While Postgres is unreachable, counts are left out, but ages grow,
// so that alerts fire.
func (b *backlogCollector) Collect(ch chan<- prometheus.Metric) {
	now, age, away := b.current("the backlog cannot be counted; the ages of its gauges grow")
	gauge(ch, readingAge, age.Seconds(), sourceBacklog)
	if away {
		gauge(ch, outboxAge, (now.OutboxOldestAge + age).Seconds())
		gauge(ch, oldestDueAge, (now.OldestDueAge + age).Seconds())
		gauge(ch, oldestHeldAge, (now.OldestHeldAge + age).Seconds())
		gauge(ch, mailsAge, (now.Mails.OldestDueAge + age).Seconds())
		gauge(ch, collectionsAge, (now.Collections.OldestAge + age).Seconds())
		return
	}
	gauge(ch, outboxAge, now.OutboxOldestAge.Seconds())
	gauge(ch, outboxSetAside, float64(now.OutboxSetAside))
	gauge(ch, daysAhead, float64(now.Partitions.DaysAhead))
	gauge(ch, defaultRows, float64(now.Partitions.DefaultRows))
	gauge(ch, oldestDueAge, now.OldestDueAge.Seconds())
	gauge(ch, oldestHeldAge, now.OldestHeldAge.Seconds())
	gauge(ch, outboundBroken, oneIf(!now.OutboundSince.IsZero()))
	gauge(ch, outboxPending, float64(now.OutboxPending))
	gauge(ch, mailsPending, float64(now.Mails.Pending))
	gauge(ch, mailsAge, now.Mails.OldestDueAge.Seconds())
	gauge(ch, serverConns, float64(now.Server.Connections))
	gauge(ch, serverMaxConns, float64(now.Server.MaxConnections))
	gauge(ch, collectionsAge, now.Collections.OldestAge.Seconds())
	for _, state := range deposit.CollectionStates {
		gauge(ch, collectionsBy, float64(now.Collections.States[state]), string(state))
	}
	for _, table := range webhookports.FrequentlyUpdatedTables {
		gauge(ch, deadRows, float64(now.Server.DeadRows[table]), table)
	}
	for _, s := range webhookports.PendingDeliveryStates {
		gauge(ch, pendingByState, float64(now.Deliveries[s]), string(s))
	}
	for _, s := range webhookports.SubscriptionStates {
		gauge(ch, subscriptionsBy, float64(now.Subscriptions[s]), string(s))
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

type QueueDepthFunc func(queue string) (map[string]int, error)

// RegisterQueues registers the gauge svc_queue_depth. states lists all values of its label state.
func (r *Registry) RegisterQueues(names, states []string, depth QueueDepthFunc) {
	r.prometheus.MustRegister(&queuesCollector{names: names, states: states,
		reading: newReading(r.log, queueFresh, func(context.Context) (map[string]map[string]int, error) {
			all := map[string]map[string]int{}
			for _, name := range names {
				counted, err := depth(name)
				if err != nil {
					return nil, err
				}
				all[name] = counted
			}
			return all, nil
		})})
}

type queuesCollector struct {
	names, states []string
	*reading[map[string]map[string]int]
}

func (q *queuesCollector) Describe(ch chan<- *prometheus.Desc) { ch <- queueDepth }

// Collect exports the number of jobs of each queue and state, unless Redis is unreachable.
func (q *queuesCollector) Collect(ch chan<- prometheus.Metric) {
	depths, age, away := q.current("the queues cannot be counted")
	gauge(ch, readingAge, age.Seconds(), sourceQueue)
	if away {
		return
	}
	for _, name := range q.names {
		for _, state := range q.states {
			gauge(ch, queueDepth, float64(depths[name][state]), name, state)
		}
	}
}
