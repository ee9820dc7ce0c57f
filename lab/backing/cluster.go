package backing

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisSlots is the number of hash slots of every Redis Cluster.
const redisSlots = 16384

// RedisCluster is a Redis Cluster of processes on this machine.
type RedisCluster struct {
	Masters  []*Server // in the order of their slots
	Replicas []*Server // Replicas[i] follows Masters[i % len(Masters)]
}

// StartRedisCluster starts a cluster from the redis-server of this machine, whatever other sources there are: containers
// would announce addresses that only containers reach. A master that is away for nodeTimeout is replaced by its replica
// a second or two later. replicas counts those of each master.
//
// An error names the Debian package of a missing server program, or the step that failed.
func StartRedisCluster(ctx context.Context, o Options, masters, replicas int, nodeTimeout time.Duration) (*RedisCluster, error) {
	o = o.withDefaults()
	if err := redisService.install(ctx, o); err != nil {
		return nil, err
	}
	nodes := make([]*Server, masters*(1+replicas))
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i := range nodes {
		all.Go(func() {
			nodes[i], _, errs[i] = startRedisProcess(ctx, o, redisProcess{settings: []string{
				"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
				"--cluster-node-timeout", strconv.FormatInt(nodeTimeout.Milliseconds(), 10),
				"--cluster-replica-validity-factor", "0", // a replica that lost its master takes over, however late
				"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
			}})
		})
	}
	all.Wait()
	c := &RedisCluster{Masters: nodes[:masters], Replicas: nodes[masters:]}
	err := errors.Join(errs...)
	if err == nil {
		err = c.form(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	o.Logf("services: Redis Cluster of %d masters and %d replicas, from the machine's redis-server", masters, len(c.Replicas))
	return c, nil
}

// Addrs are host and port of every node.
func (c *RedisCluster) Addrs() []string { return addrsOf(c.nodes()) }

// URL names every node: redis://host:port,host:port,…
func (c *RedisCluster) URL() string { return "redis://" + strings.Join(c.Addrs(), ",") }

// MasterOf is the index of the master that holds a key at the start.
func (c *RedisCluster) MasterOf(ctx context.Context, key string) (int, error) {
	clients, end := clientsOf(c.Masters, redis.Options{})
	defer end()
	slot, err := clients[0].ClusterKeySlot(ctx, key).Result()
	return int(slot) * len(c.Masters) / redisSlots, err
}

// Close ends all nodes and removes their data.
func (c *RedisCluster) Close() error { return closeAll(c.nodes()...) }

func (c *RedisCluster) nodes() []*Server {
	return append(append([]*Server(nil), c.Masters...), c.Replicas...)
}

// form joins the started nodes: slots for the masters, acquaintance for all, then a master for each replica.
func (c *RedisCluster) form(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	clients, end := clientsOf(c.nodes(), redis.Options{})
	defer end()
	masters, replicas := clients[:len(c.Masters)], clients[len(c.Masters):]
	host, port, err := net.SplitHostPort(c.Masters[0].hostPort())
	if err != nil {
		return err
	}
	var errs []error
	for i, client := range masters {
		errs = append(errs, client.ClusterAddSlotsRange(ctx, firstSlot(i, len(masters)), firstSlot(i+1, len(masters))-1).Err())
	}
	for i, client := range clients {
		errs = append(errs, client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		if i > 0 {
			errs = append(errs, client.ClusterMeet(ctx, host, port).Err())
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
	// A master whose replica the others do not know yet would stay without a successor.
	return eachSays(ctx, clients, "CLUSTER NODES", slices.Repeat([]string{"slave"}, len(replicas))...)
}

// firstSlot is the first slot of the i-th of n masters.
func firstSlot(i, n int) int { return (i*redisSlots + n - 1) / n }

func addrsOf(servers []*Server) (addrs []string) {
	for _, s := range servers {
		addrs = append(addrs, s.hostPort())
	}
	return addrs
}

// clientsOf connects to each server; end closes the connections.
func clientsOf(servers []*Server, o redis.Options) (clients []*redis.Client, end func()) {
	for _, addr := range addrsOf(servers) {
		o.Addr = addr
		each := o
		clients = append(clients, redis.NewClient(&each))
	}
	return clients, func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}
}

// eachSays waits until the answers of all nodes to a command hold all parts, one behind the other.
func eachSays(ctx context.Context, clients []*redis.Client, command string, parts ...string) error {
	name, argument, _ := strings.Cut(command, " ")
	inOrder := regexp.MustCompile("(?s)" + strings.Join(parts, ".*"))
	for _, client := range clients {
		err := await(ctx, nil, func() error {
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

// Sentinels are a Redis with a replica, and sentinels that let the replica take over.
type Sentinels struct {
	Master, Replica *Server
	Sentinels       []*Server
	TLS             *tls.Config // of a client that trusts the processes; nil without SentinelOptions.TLS
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
	all := &Sentinels{}
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
	address := strings.Replace(s.Master.hostPort(), ":", " ", 1)
	node.settings = append(node.settings, "--replicaof", address)
	if s.Replica, _, err = startRedisProcess(ctx, o, node); err != nil {
		return err
	}
	watcher := redisProcess{password: settings.SentinelPassword, tls: cert, sentinel: settings.configuration(address)}
	for range 3 {
		sentinel, _, err := startRedisProcess(ctx, o, watcher)
		if err != nil {
			return err
		}
		s.Sentinels = append(s.Sentinels, sentinel)
	}
	return s.await(ctx, settings)
}

func (s SentinelOptions) configuration(address string) string {
	lines := []string{
		fmt.Sprintf("sentinel monitor %s %s 2", s.Name, address),
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
	clients, end := clientsOf(s.Sentinels, redis.Options{Password: settings.SentinelPassword, TLSConfig: s.TLS})
	defer end()
	return eachSays(ctx, clients, "INFO sentinel", "status=ok", "slaves=1,sentinels=3")
}

// Hosts names the sentinels: host:port,host:port,…
func (s *Sentinels) Hosts() string {
	return strings.Join(addrsOf(s.Sentinels), ",")
}

// Close ends all processes and removes their data.
func (s *Sentinels) Close() error {
	return closeAll(append([]*Server{s.Master, s.Replica}, s.Sentinels...)...)
}

const certificateFile, keyFile = "tls.crt", "tls.key"

// certificate is for 127.0.0.1 and for this run. It is its own authority, and its servers are each other's clients.
type certificate struct {
	cert, key string // PEM
	roots     *x509.CertPool
}

func newCertificate() (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "partnerdeposits tests"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	c := &certificate{cert: encodePEM("CERTIFICATE", cert), key: encodePEM("PRIVATE KEY", secret), roots: x509.NewCertPool()}
	c.roots.AppendCertsFromPEM([]byte(c.cert)) // which is right
	return c, nil
}

func encodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// trust is the configuration of a client; nil for no certificate.
func (c *certificate) trust() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12}
}

// furnish puts the files of the certificate into the data directory of a server.
func (c *certificate) furnish(h *home) error {
	return errors.Join(h.write(certificateFile, c.cert), h.write(keyFile, c.key))
}
