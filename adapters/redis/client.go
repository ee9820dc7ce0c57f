// Package redis implements the rate limiter, the cache of idempotency and the doorbell. Redis holds hints and counters;
// Postgres holds the truth. An empty, slow or absent Redis costs a few milliseconds and never fails a request
// (breaker.go).
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

// Timeouts are short: every request can be answered without Redis.
const (
	dialTimeout = 500 * time.Millisecond
	ioTimeout   = 500 * time.Millisecond
	poolTimeout = 500 * time.Millisecond
)

// ErrURL describes the valid forms of a Redis URL. The text never quotes the URL, which may contain a password.
var ErrURL = errors.New(
	"redis: the URL must be redis://host:port/db, rediss://…, redis://host1,host2,… for a cluster, " +
		"or redis-sentinel://host1,host2,…?master=name; rediss and rediss-sentinel stand for TLS")

// reloadEvery is how old a client's map of a cluster's slots may be. A master that died answers no MOVED, so only a new
// map shows the master's successor.
const reloadEvery = time.Second

// Option changes the options of a client.
type Option func(*redis.UniversalOptions)

// SentinelPassword is the password that sentinels ask for; "" is none. The URL has the password of the master.
func SentinelPassword(password string) Option {
	return func(o *redis.UniversalOptions) { o.SentinelPassword = password }
}

// NewClient makes a client of REDIS_URL without connecting. An unreachable Redis fails each command.
//
//	redis://[user:password@]host:port[/db]                                  a single server
//	redis://[user:password@]host1:port,host2:port                           a cluster; without a scheme too
//	redis-sentinel://[user:password@]host1:port,host2:port[/db]?master=name the master that the sentinels name
//	rediss://…, rediss-sentinel://…                                         the same with TLS, to sentinels too
//
// Returns ErrURL.
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
			return nil, ErrURL
		}
		scheme, rest = "redis", raw // a bare list of hosts
	}
	rest = strings.ReplaceAll(rest, ","+scheme+"://", ",") // each host may repeat the scheme
	// net/url rejects a list of hosts with ports, so the hosts are cut out first.
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
		return nil, ErrURL
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
			return nil, ErrURL
		}
	default:
		return nil, ErrURL
	}
	if o.Addrs = addresses(hosts, defaultPort); o.Addrs == nil {
		return nil, ErrURL
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
	if err != nil || db < 0 || (db > 0 && len(o.Addrs) > 1 && o.MasterName == "") { // a cluster has only database 0
		return ErrURL
	}
	o.DB = db
	return nil
}

func options() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		DialTimeout: dialTimeout, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, PoolTimeout: poolTimeout,
		ContextTimeoutEnabled: true, // otherwise a command outlives its deadline
		MaxRetries:            1,
		PipelinePoolSize:      -1, // no further connections for pipelines, each with buffers of 256 KiB
		DialerRetries:         1,  // the breaker decides when to try again
	}
}
