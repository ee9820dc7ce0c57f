// Package redis holds what the service keeps in Redis: the rate limiter's counts, the fast path of idempotency and the
// doorbell. None of it is the truth. An empty, slow or absent Redis costs a few milliseconds at most and never a
// failed request: guard.go sees to that.
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

// Waits are short: whoever waits for Redis is a request that could do without it.
const (
	dialTimeout = 500 * time.Millisecond
	ioTimeout   = 500 * time.Millisecond
	poolTimeout = 500 * time.Millisecond
)

// ErrURL says what a Redis URL may look like. It never quotes the URL, which may hold a password.
var ErrURL = errors.New("redis: the URL must be redis://host:port/db, rediss://…, redis://host1,host2,… for a cluster, " +
	"or redis-sentinel://host1,host2,…?master=name")

// NewClient makes a client of REDIS_URL. It does not connect; a Redis that is away is met by each command.
//
//	redis://[user:password@]host:port[/db]                                  one server; rediss:// with TLS
//	redis://[user:password@]host1:port,host2:port                           a cluster; without a scheme too
//	redis-sentinel://[user:password@]host1:port,host2:port[/db]?master=name whatever the sentinels say
//
// Returns ErrURL.
func NewClient(redisURL string) (redis.UniversalClient, error) {
	o, err := parseURL(redisURL)
	if err != nil {
		return nil, err
	}
	switch {
	case o.MasterName != "":
		return redis.NewFailoverClient(o.Failover()), nil
	case len(o.Addrs) > 1:
		return redis.NewClusterClient(o.Cluster()), nil
	default:
		return redis.NewClient(o.Simple()), nil
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
	// A list of hosts is no URL to net/url when one has a port, so the hosts are taken out first.
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
	case "redis-sentinel":
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
	if err != nil || db < 0 || (db > 0 && len(o.Addrs) > 1 && o.MasterName == "") { // a cluster has database 0 alone
		return ErrURL
	}
	o.DB = db
	return nil
}

func options() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		DialTimeout: dialTimeout, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, PoolTimeout: poolTimeout,
		ContextTimeoutEnabled: true, // else a command outlives the deadline that it was given
		MaxRetries:            1,
		DialerRetries:         1, // the guard decides when to try again
	}
}
