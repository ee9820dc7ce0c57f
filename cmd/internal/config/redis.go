package config

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Mistakes of REDIS_URL. go-redis quotes the URL, password included, in its own.
var (
	errRedisURL  = errors.New("is not a Redis URL such as redis://host:6379/0")
	errRedisHost = errors.New("has an empty host in its list")
	errMaster    = errors.New("needs the name of the master: redis-sentinel://host:26379?master=name")
	errDatabase  = errors.New("cannot choose a database in a cluster")
)

// ParseRedis reads REDIS_URL: redis:// or rediss:// (TLS) with one host, or a comma list of hosts for a cluster, or
// redis-sentinel://host:26379,…?master=name.
//
// Returns an error that quotes nothing of raw.
func ParseRedis(raw string) (*redis.UniversalOptions, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil, errRedisURL
	}
	sentinel := scheme == "redis-sentinel"
	if sentinel {
		scheme = "redis"
	}
	if scheme != "redis" && scheme != "rediss" {
		return nil, errRedisURL
	}
	userInfo, hosts, tail := splitAuthority(rest)
	addrs := strings.Split(hosts, ",")
	for i, addr := range addrs {
		if addr == "" || strings.HasPrefix(addr, ":") {
			return nil, errRedisHost
		}
		addrs[i] = withPort(addr, sentinel)
	}
	tail, master := cutMaster(tail)
	// The first host stands for the list while go-redis reads user, password, database and timeouts.
	o, err := redis.ParseURL(scheme + "://" + userInfo + addrs[0] + tail)
	switch {
	case err != nil:
		return nil, errRedisURL
	case sentinel && master == "":
		return nil, errMaster
	case len(addrs) > 1 && !sentinel && o.DB != 0:
		return nil, errDatabase
	}
	return universal(o, addrs, master), nil
}

func universal(o *redis.Options, addrs []string, master string) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs: addrs, MasterName: master, IsClusterMode: len(addrs) > 1 && master == "",
		Username: o.Username, Password: o.Password, DB: o.DB, TLSConfig: o.TLSConfig,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		PoolSize: o.PoolSize, MinIdleConns: o.MinIdleConns, MaxRetries: o.MaxRetries,
	}
}

// splitAuthority parts "user:password@a,b/0?x=y" into "user:password@", "a,b" and "/0?x=y".
func splitAuthority(rest string) (userInfo, hosts, tail string) {
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return authority[:i+1], authority[i+1:], tail
	}
	return "", authority, tail
}

// cutMaster takes master=name out of the query.
func cutMaster(tail string) (rest, master string) {
	path, query, found := strings.Cut(tail, "?")
	if !found {
		return tail, ""
	}
	var kept []string
	for param := range strings.SplitSeq(query, "&") {
		if name, ok := strings.CutPrefix(param, "master="); ok {
			master = name
			continue
		}
		kept = append(kept, param)
	}
	if len(kept) == 0 {
		return path, master
	}
	return path + "?" + strings.Join(kept, "&"), master
}

func withPort(addr string, sentinel bool) string {
	switch {
	case strings.LastIndexByte(addr, ':') > strings.LastIndexByte(addr, ']'):
		return addr
	case sentinel:
		return addr + ":26379"
	default:
		return addr + ":6379"
	}
}
