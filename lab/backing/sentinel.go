package backing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Sentinels are a Redis with a replica, and sentinels that let the replica take over.
type Sentinels struct {
	Master, Replica *Server
	Sentinels       []*Server
	TLS             *tls.Config // of a client that trusts the processes; nil without SentinelOptions.TLS
	name            string
}

// SentinelOptions describes passwords and encryption; a password "" is none.
type SentinelOptions struct {
	Name             string // of the master
	Password         string // of master and replica
	SentinelPassword string // of the sentinels
	TLS              bool   // the only way to all processes, and between them
	DownAfter        time.Duration
}

// StartSentinels starts a master, a replica and three sentinels from the redis-server of this machine.
//
// An error names the Debian package of a missing server program, or the step that failed.
func StartSentinels(ctx context.Context, o Options, s SentinelOptions) (*Sentinels, error) {
	o = o.withDefaults()
	if err := redisService.install(ctx, o); err != nil {
		return nil, err
	}
	all := &Sentinels{name: s.Name}
	if err := all.start(ctx, o, s); err != nil {
		return nil, errors.Join(err, all.Close())
	}
	o.Logf("services: Redis with a replica and three sentinels, from the machine's redis-server")
	return all, nil
}

func (s *Sentinels) start(ctx context.Context, o Options, settings SentinelOptions) (err error) {
	var cert *certificate
	if settings.TLS {
		if cert, err = newCertificate(); err != nil {
			return err
		}
	}
	s.TLS = cert.trust()
	node := redisProcess{password: settings.Password, tls: cert, settings: []string{"--repl-diskless-sync-delay", "0"}}
	if settings.Password != "" {
		node.settings = append(node.settings, "--requirepass", settings.Password, "--masterauth", settings.Password)
	}
	if s.Master, _, err = startRedisProcess(ctx, o, node); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(s.Master.hostPort())
	if err != nil {
		return err
	}
	node.settings = append(node.settings, "--replicaof", host+" "+port)
	if s.Replica, _, err = startRedisProcess(ctx, o, node); err != nil {
		return err
	}
	watcher := redisProcess{password: settings.SentinelPassword, tls: cert, sentinel: settings.configuration(host, port)}
	for range 3 {
		sentinel, _, err := startRedisProcess(ctx, o, watcher)
		if err != nil {
			return err
		}
		s.Sentinels = append(s.Sentinels, sentinel)
	}
	return s.await(ctx, settings)
}

func (s SentinelOptions) configuration(host, port string) string {
	lines := []string{
		fmt.Sprintf("sentinel monitor %s %s %s 2", s.Name, host, port),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", s.Name, s.DownAfter.Milliseconds()),
		fmt.Sprintf("sentinel failover-timeout %s 5000", s.Name),
	}
	if s.Password != "" {
		lines = append(lines, fmt.Sprintf("sentinel auth-pass %s %s", s.Name, s.Password))
	}
	if s.SentinelPassword != "" { // sentinels ask each other for it, too
		lines = append(lines, "requirepass "+s.SentinelPassword, "sentinel sentinel-pass "+s.SentinelPassword)
	}
	return strings.Join(lines, "\n") + "\n"
}

// await waits until every sentinel knows the replica and the others: before that, nobody can take over.
func (s *Sentinels) await(ctx context.Context, settings SentinelOptions) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var clients []*redis.Client
	for _, sentinel := range s.Sentinels {
		client := redis.NewClient(&redis.Options{Addr: sentinel.hostPort(), Password: settings.SentinelPassword, TLSConfig: s.TLS})
		defer func() { _ = client.Close() }()
		clients = append(clients, client)
	}
	return eachSays(ctx, clients, func(ctx context.Context, client *redis.Client) (string, error) {
		return client.Info(ctx, "sentinel").Result()
	}, "status=ok", "slaves=1,sentinels=3")
}

// Hosts names the sentinels: host:port,host:port,…
func (s *Sentinels) Hosts() string {
	var hosts []string
	for _, sentinel := range s.Sentinels {
		hosts = append(hosts, sentinel.hostPort())
	}
	return strings.Join(hosts, ",")
}

// Close ends all processes and removes their data.
func (s *Sentinels) Close() error {
	return closeAll(append([]*Server{s.Master, s.Replica}, s.Sentinels...)...)
}
