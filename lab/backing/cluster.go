package backing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/lab/procs"
)

const redisSlots = 16384

type RedisCluster struct {
	// The masters of the Redis Cluster by their hash slots.
	Masters  []*Server
	Replicas []*Server // The replicas: Replicas[i] holds a copy of the data of Masters[i % len(Masters)].
}

// StartRedisCluster starts a Redis Cluster from this machine's redis-server: a Redis in a container announces an
// address that only containers reach. A replica replaces its master two or three seconds after the master's end.
func StartRedisCluster(ctx context.Context, o Options, masters, replicas int) (*RedisCluster, error) {
	o = o.withDefaults()
	if err := redisService.install(o); err != nil {
		return nil, err
	}
	nodes := make([]*Server, masters*(1+replicas))
	errs, buses := make([]error, len(nodes)), make([]int, len(nodes))
	var all sync.WaitGroup
	for i := range nodes {
		all.Go(func() {
			// The usual cluster bus port of Redis, 10,000 above the port for clients, may be in use by another program.
			if buses[i], errs[i] = FreePort(); errs[i] != nil {
				return
			}
			nodes[i], _, errs[i] = startRedisProcess(ctx, o, RedisProcessSpec{Settings: []string{
				"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", strconv.Itoa(buses[i]),
				// The node timeout is short enough for tests of failovers, and longer than a busy machine suspends a process.
				"--cluster-node-timeout", "1500",
				// 0 lets a replica replace its master however long ago it lost the connection.
				"--cluster-replica-validity-factor", "0",
				"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
			}})
		})
	}
	all.Wait()
	c := &RedisCluster{Masters: nodes[:masters], Replicas: nodes[masters:]}
	err := errors.Join(errs...)
	if err == nil {
		err = c.form(ctx, buses[0])
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	o.Logf("services: Redis Cluster of %d masters and %d replicas, from the machine's redis-server", masters,
		len(c.Replicas))
	return c, nil
}

func (c *RedisCluster) Addrs() (addrs []string) {
	for _, s := range c.nodes() {
		addrs = append(addrs, s.HostPort())
	}
	return addrs
}

// URL returns redis://host:port,host:port,… with every node of the Redis Cluster.
func (c *RedisCluster) URL() string { return "redis://" + strings.Join(c.Addrs(), ",") }

// MasterIndexOfKey returns the index of the Redis Cluster's master that holds a key before any failover.
func (c *RedisCluster) MasterIndexOfKey(ctx context.Context, key string) (int, error) {
	clients, end := clientsOf(c.Masters[:1])
	defer end()
	slot, err := clients[0].ClusterKeySlot(ctx, key).Result()
	return int(slot) * len(c.Masters) / redisSlots, err
}

func (c *RedisCluster) Close() error { return closeAll(c.nodes()...) }

func (c *RedisCluster) nodes() []*Server {
	return append(append([]*Server(nil), c.Masters...), c.Replicas...)
}

// form joins Redis nodes to a cluster: slots for the masters, then their replicas. bus is the cluster bus port of
// the first node.
func (c *RedisCluster) form(ctx context.Context, bus int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	clients, end := clientsOf(c.nodes())
	defer end()
	masters, replicas := clients[:len(c.Masters)], clients[len(c.Masters):]
	host, port, err := net.SplitHostPort(c.Masters[0].HostPort())
	if err != nil {
		return err
	}
	var errs []error
	for i, client := range masters {
		errs = append(errs,
			client.ClusterAddSlotsRange(ctx, firstSlot(i, len(masters)), firstSlot(i+1, len(masters))-1).Err())
	}
	for i, client := range clients {
		errs = append(errs, client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		if i > 0 {
			errs = append(errs, client.Do(ctx, "CLUSTER", "MEET", host, port, bus).Err())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("join the nodes of the cluster: %w", err)
	}
	known := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(clients))
	if err := eachSays(ctx, clients, "CLUSTER INFO", "cluster_state:ok", known); err != nil {
		return err
	}
	for i, client := range replicas {
		master, err := masters[i%len(masters)].Do(ctx, "CLUSTER", "MYID").Text()
		if err != nil {
			return err
		}
		if err := client.ClusterReplicate(ctx, master).Err(); err != nil {
			return err
		}
	}
	if err := eachSays(ctx, replicas, "INFO replication", "master_link_status:up"); err != nil {
		return err
	}
	// Wait until every Redis node knows every replica: an unknown replica cannot succeed its master.
	return eachSays(ctx, clients, "CLUSTER NODES", slices.Repeat([]string{"slave"}, len(replicas))...)
}

func firstSlot(i, n int) int { return (i*redisSlots + n - 1) / n }

// clientsOf returns a client of each Redis server; end closes the clients.
func clientsOf(servers []*Server) (clients []*redis.Client, end func()) {
	for _, s := range servers {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: s.HostPort()}))
	}
	return clients, func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}
}

// eachSays waits until every Redis node's answer to a command contains all parts in order.
func eachSays(ctx context.Context, clients []*redis.Client, command string, parts ...string) error {
	name, argument, _ := strings.Cut(command, " ")
	inOrder := regexp.MustCompile("(?s)" + strings.Join(parts, ".*"))
	for _, client := range clients {
		err := procs.AwaitCondition(ctx, nil, func() error {
			answer, err := client.Do(ctx, name, argument).Text()
			if err == nil && !inOrder.MatchString(answer) {
				err = fmt.Errorf("%s says:\n%s", command, answer)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("the nodes did not join in time: %w", err)
		}
	}
	return nil
}

const certificateFile, keyFile = "tls.crt", "tls.key"

// Certificate is the self-signed TLS certificate of net/http/httptest for 127.0.0.1.
type Certificate struct {
	cert, key string      // The certificate and its private key in PEM.
	trust     *tls.Config // TLS configuration that trusts the certificate.
}

func NewCertificate() (*Certificate, error) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return &Certificate{encodePEM("CERTIFICATE", server.Certificate().Raw), encodePEM("PRIVATE KEY", key),
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}, nil
}

func encodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// ClientTLSConfig returns a client's TLS configuration that trusts the certificate; nil without a certificate.
func (c *Certificate) ClientTLSConfig() *tls.Config {
	if c == nil {
		return nil
	}
	return c.trust.Clone()
}
