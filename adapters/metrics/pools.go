package metrics

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

var (
	pgConnections = prometheus.NewDesc("svc_pg_pool_connections", "Postgres connections of this process.",
		[]string{"pool", "state"}, nil)
	pgMax = prometheus.NewDesc("svc_pg_pool_max_connections", "The most connections that the pool may open.",
		[]string{"pool"}, nil)
	pgAcquires = prometheus.NewDesc("svc_pg_pool_acquires_total", "Connections taken from the pool.", []string{"pool"},
		nil)
	pgWaits = prometheus.NewDesc("svc_pg_pool_waits_total", "Acquires that had to wait for a connection.",
		[]string{"pool"}, nil)
	pgWaitSeconds = prometheus.NewDesc("svc_pg_pool_wait_seconds_total", "Time spent on waiting for a connection.",
		[]string{"pool"}, nil)

	redisConnections = prometheus.NewDesc("svc_redis_pool_connections", "Redis connections of this process.",
		[]string{"pool", "state"}, nil)
	redisTimeouts = prometheus.NewDesc("svc_redis_pool_timeouts_total", "Commands that found no free connection in time.",
		[]string{"pool"}, nil)
)

type pgPools map[string]*pgxpool.Pool

func (r *Registry) RegisterPostgresPools(pools map[string]*pgxpool.Pool) {
	r.prometheus.MustRegister(pgPools(pools))
}

func (p pgPools) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{pgConnections, pgMax, pgAcquires, pgWaits, pgWaitSeconds} {
		ch <- d
	}
}

func (p pgPools) Collect(ch chan<- prometheus.Metric) {
	for name, pool := range p {
		s := pool.Stat()
		gauge(ch, pgConnections, float64(s.IdleConns()), name, "idle")
		gauge(ch, pgConnections, float64(s.AcquiredConns()), name, "in_use")
		gauge(ch, pgConnections, float64(s.ConstructingConns()), name, "opening")
		gauge(ch, pgMax, float64(s.MaxConns()), name)
		count(ch, pgAcquires, float64(s.AcquireCount()), name)
		count(ch, pgWaits, float64(s.EmptyAcquireCount()), name)
		count(ch, pgWaitSeconds, s.EmptyAcquireWaitTime().Seconds(), name)
	}
}

type redisPools map[string]redis.UniversalClient

func (r *Registry) RegisterRedisPools(clients map[string]redis.UniversalClient) {
	r.prometheus.MustRegister(redisPools(clients))
}

func (p redisPools) Describe(ch chan<- *prometheus.Desc) {
	ch <- redisConnections
	ch <- redisTimeouts
}

func (p redisPools) Collect(ch chan<- prometheus.Metric) {
	for name, client := range p {
		s := client.PoolStats()
		gauge(ch, redisConnections, float64(s.IdleConns), name, "idle")
		gauge(ch, redisConnections, float64(s.TotalConns-min(s.IdleConns, s.TotalConns)), name, "in_use")
		count(ch, redisTimeouts, float64(s.Timeouts), name)
	}
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func count(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}
