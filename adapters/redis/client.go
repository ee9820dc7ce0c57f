// Package redis implements the rate limiter, the cache of idempotent responses, and the notifications that wake
// dispatchers. Redis holds hints and counters only; the durable data are in Postgres. A Redis that is empty, slow
// or unreachable costs a few milliseconds and never fails a request (breaker.go).
package redis

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Time limits of connections to Redis. They are short, because every request can be answered without Redis.
const (
	dialTimeout = 500 * time.Millisecond
	ioTimeout   = 500 * time.Millisecond
	poolTimeout = 500 * time.Millisecond
)

// ErrInvalidURL is the error for an invalid Redis URL; its text lists the valid forms. It never quotes the URL, which
// may contain a password.
var ErrInvalidURL = errors.New(
	"redis: the URL must be redis://host:port/db, rediss://…, redis://host1,host2,… for a cluster, " +
		"or redis-sentinel://host1,host2,…?master=name; rediss and rediss-sentinel stand for TLS")

// reloadEvery is how often a client reads anew which nodes of a Redis Cluster hold which keys. A master that died
// sends no redirection, so only a new reading reveals its successor.
const reloadEvery = time.Second

type Option func(*redis.UniversalOptions)

// WithSentinelPassword sets the password for the Redis sentinels; "" means none. The password in the URL is that of the
// master.
func WithSentinelPassword(password string) Option {
	return func(o *redis.UniversalOptions) { o.SentinelPassword = password }
}

// NewClient makes a client for a Redis URL without connecting. If Redis is unreachable, each command fails.
//
//	redis://[user:password@]host:port[/db]                                  a single server
//	redis://[user:password@]host1:port,host2:port                           a cluster; without a scheme too
//	redis-sentinel://[user:password@]host1:port,host2:port[/db]?master=name the master that the sentinels name
//	rediss://…, rediss-sentinel://…                                         the same with TLS, to sentinels too
//
// Returns ErrInvalidURL.
func NewClient(redisURL string, options ...Option) (redis.UniversalClient, error) {
	o, err := parseURL(redisURL)
	if err != nil {
		return nil, err
	}
	for _, set := range options {
		set(o)
	}
	return newClient(o), nil
}

func newClient(o *redis.UniversalOptions) redis.UniversalClient {
	switch {
	case o.MasterName != "":
		return redis.NewFailoverClient(o.Failover())
	case o.IsClusterMode || len(o.Addrs) > 1:
		cluster := o.Cluster()
		cluster.ClusterStateReloadInterval = reloadEvery
		return redis.NewClusterClient(cluster)
	default:
		return redis.NewClient(o.Simple())
	}
}

func parseURL(raw string) (*redis.UniversalOptions, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		if !strings.Contains(raw, ",") {
			return nil, ErrInvalidURL
		}
		scheme, rest = "redis", raw // A list of Redis hosts without a scheme means redis://.
	}
	// Each host in the list of a Redis URL may repeat the scheme.
	rest = strings.ReplaceAll(rest, ","+scheme+"://", ",")
	// net/url rejects a list of hosts with ports, so the hosts are cut out of the URL first.
	authority, tail := rest, ""
	if at := strings.IndexAny(rest, "/?"); at >= 0 {
		authority, tail = rest[:at], rest[at:]
	}
	userinfo, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		userinfo, hosts = authority[:at+1], authority[at+1:]
	}
	u, err := url.Parse("redis://" + userinfo + "host" + tail)
	if err != nil {
		return nil, ErrInvalidURL
	}
	o := options()
	defaultPort := "6379"
	switch scheme {
	case "redis":
	case "rediss":
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	case "redis-sentinel", "rediss-sentinel":
		if scheme == "rediss-sentinel" {
			o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		defaultPort = "26379"
		if o.MasterName = u.Query().Get("master"); o.MasterName == "" {
			return nil, ErrInvalidURL
		}
	default:
		return nil, ErrInvalidURL
	}
	if o.Addrs = addresses(hosts, defaultPort); o.Addrs == nil {
		return nil, ErrInvalidURL
	}
	if u.User != nil {
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	return o, database(o, strings.Trim(u.Path, "/"))
}

func addresses(hosts, defaultPort string) []string {
	var out []string
	for host := range strings.SplitSeq(hosts, ",") {
		u, err := url.Parse("redis://" + strings.TrimSpace(host))
		if err != nil || u.Hostname() == "" {
			return nil
		}
		port := u.Port()
		if port == "" {
			port = defaultPort
		}
		out = append(out, net.JoinHostPort(u.Hostname(), port))
	}
	return out
}

func database(o *redis.UniversalOptions, path string) error {
	if path == "" {
		return nil
	}
	db, err := strconv.Atoi(path)
	// Only database 0 exists in a Redis Cluster.
	if err != nil || db < 0 || (db > 0 && len(o.Addrs) > 1 && o.MasterName == "") {
		return ErrInvalidURL
	}
	o.DB = db
	return nil
}

func options() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		DialTimeout: dialTimeout, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, PoolTimeout: poolTimeout,
		ContextTimeoutEnabled: true, // ContextTimeoutEnabled makes a Redis command end at the deadline of its context.
		MaxRetries:            1,
		// Pipelines of Redis commands get no connections of their own, each of which would have buffers of 256 KiB.
		PipelinePoolSize: -1,
		DialerRetries:    1, // The Redis driver does not connect again by itself: the circuit breaker decides when.
	}
}
