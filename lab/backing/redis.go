package backing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

var redisService = service{
	name:       "Redis",
	testsEnv:   "TEST_REDIS_URL",
	sandboxEnv: "REDIS_URL",
	debian:     "redis-server",
	whatToHave: "Redis 7 or newer (redis-server)",
	image:      "redis:7-alpine",
	checkURL:   pingRedis,
	native: func(ctx context.Context, o Options) (*Server, string, error) {
		return startRedisProcess(ctx, o, RedisProcessSpec{})
	},
	hasNative: func(m *machine) bool { _, ok := m.redisServer(); return ok },
	container: func(o Options) containerSpec {
		return containerSpec{
			port: "6379/tcp",
			// Protected mode would refuse connections from outside the container.
			argv: append([]string{"redis-server", "--protected-mode", "no"}, redisSettings(o)...),
			url:  redisURL, gentle: "TERM", immediate: "KILL",
			ready: func(ctx context.Context, hostPort string) error {
				_, err := redisInfo(ctx, hostPort, RedisProcessSpec{})
				return err
			},
		}
	},
}

func redisURL(hostPort string) string { return "redis://" + hostPort + "/0" }

// redisSettings returns the Redis settings for every source of a server, as flags.
func redisSettings(o Options) []string {
	appendOnly := "no"
	if o.RedisAOF {
		appendOnly = "yes"
	}
	return []string{
		"--save", "", "--appendonly", appendOnly, "--appendfsync", "everysec",
		// Each of the parallel tests uses a Redis database of its own.
		"--databases", "512",
		"--maxmemory-policy", "noeviction",
	}
}

// RedisProcessSpec describes a redis-server process to start; the zero value is a standalone server.
type RedisProcessSpec struct {
	// Settings of the Redis process beside the usual ones of tests.
	Settings []string
	Password string
	// Certificate for TLS on every connection to and from the Redis process; nil: plain TCP.
	TLS *Certificate
	// Sentinel is the configuration of a Redis Sentinel, without the port; "": a usual Redis.
	Sentinel string
}

// StartRedisProcess starts this machine's redis-server: a Redis in a container announces an address that only
// containers reach.
func StartRedisProcess(ctx context.Context, o Options, p RedisProcessSpec) (*Server, error) {
	o = o.withDefaults()
	if err := redisService.install(o); err != nil {
		return nil, err
	}
	server, _, err := startRedisProcess(ctx, o, p)
	return server, err
}

func startRedisProcess(ctx context.Context, o Options, p RedisProcessSpec) (*Server, string, error) {
	bin, ok := o.machine.redisServer()
	if !ok {
		return nil, "", errors.New("no redis-server in PATH")
	}
	home, err := newHome(o)
	if err != nil {
		return nil, "", err
	}
	n := &nativeServer{
		name: "Redis", home: home,
		gentle: syscall.SIGTERM, immediate: syscall.SIGKILL,
		argv:  func(port int) []string { return p.argv(bin, home.data, port, o) },
		ready: func(ctx context.Context, port, pid int) error { return ownRedis(ctx, port, pid, p) },
	}
	if p.Sentinel != "" {
		err = home.write(sentinelFile, p.Sentinel)
	}
	if p.TLS != nil {
		err = errors.Join(err, home.write(certificateFile, p.TLS.cert), home.write(keyFile, p.TLS.key))
	}
	if err == nil {
		err = n.startFresh(ctx, 0)
	}
	if err != nil {
		_ = n.Close()
		return nil, "", err
	}
	how := fmt.Sprintf("%s, as %s, on port %d", bin, home.userName(), n.port)
	url := redisURL(loopback(n.port))
	if p.TLS != nil {
		url = strings.Replace(url, "redis:", "rediss:", 1)
	}
	return &Server{url: url, control: n}, how, nil
}

const sentinelFile = "sentinel.conf"

func (p RedisProcessSpec) argv(bin, dir string, port int, o Options) []string {
	argv := []string{bin}
	if p.Sentinel != "" {
		argv = append(argv, filepath.Join(dir, sentinelFile), "--sentinel")
	}
	argv = append(argv, "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no")
	if p.TLS == nil {
		argv = append(argv, "--port", strconv.Itoa(port))
	} else {
		// --tls-replication uses TLS for the connections of a replica or sentinel too.
		argv = append(argv, "--port", "0", "--tls-port", strconv.Itoa(port), "--tls-replication", "yes", "--tls-auth-clients",
			"no",
			"--tls-cert-file", certificateFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certificateFile)
	}
	if p.Sentinel == "" {
		argv = append(argv, redisSettings(o)...)
	}
	return append(argv, p.Settings...)
}

// ownRedis returns an error if another process than pid serves the port of a Redis.
func ownRedis(ctx context.Context, port, pid int, p RedisProcessSpec) error {
	info, err := redisInfo(ctx, loopback(port), p)
	if err == nil && !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", pid)) {
		err = fmt.Errorf("port %d belongs to another server", port)
	}
	return err
}

// redisInfo returns the server section of INFO; a Redis that still loads its data is an error.
func redisInfo(ctx context.Context, addr string, p RedisProcessSpec) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	// The Redis client would log a refused attempt, so the port is checked first.
	listening, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	_ = listening.Close()
	client := redis.NewClient(
		&redis.Options{Addr: addr, Password: p.Password, TLSConfig: p.TLS.ClientTLSConfig(), MaxRetries: -1,
			DialerRetries: 1})
	defer func() { _ = client.Close() }()
	// PING fails while Redis loads its data, but INFO answers.
	if err := client.Ping(ctx).Err(); err != nil {
		return "", err
	}
	return client.Info(ctx, "server").Result()
}

// pingRedis returns nil if the Redis of a URL answers PING. Clusters and sentinels are not checked.
func pingRedis(ctx context.Context, redisURL string) error {
	if strings.Contains(redisURL, ",") || strings.HasPrefix(redisURL, "redis-sentinel://") {
		return nil
	}
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return errors.New("it is not a URL like redis://:password@host:6379/0")
	}
	// The Redis client connects only once, since the caller repeats the ping.
	options.MaxRetries, options.DialerRetries = -1, 1
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
}

func (s *Server) HostPort() string {
	_, rest, _ := strings.Cut(s.url, "://")
	return strings.TrimSuffix(rest, "/0")
}
