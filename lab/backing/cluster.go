package backing

import (
	"context"
	"errors"
	"fmt"
	"net"
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
func (c *RedisCluster) Addrs() []string {
	var addrs []string
	for _, node := range c.nodes() {
		addrs = append(addrs, node.hostPort())
	}
	return addrs
}

// URL names every node: redis://host:port,host:port,…
func (c *RedisCluster) URL() string { return "redis://" + strings.Join(c.Addrs(), ",") }

// MasterOf is the index of the master that holds a key at the start.
func (c *RedisCluster) MasterOf(ctx context.Context, key string) (int, error) {
	client := c.nodes()[0].client()
	defer func() { _ = client.Close() }()
	slot, err := client.ClusterKeySlot(ctx, key).Result()
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
	clients := make([]*redis.Client, 0, len(c.nodes()))
	for _, node := range c.nodes() {
		client := node.client()
		defer func() { _ = client.Close() }()
		clients = append(clients, client)
	}
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
	if err := eachSays(ctx, clients, clusterInfo, "cluster_state:ok", known); err != nil {
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
	if err := eachSays(ctx, replicas, replicationInfo, "master_link_status:up"); err != nil {
		return err
	}
	// A master whose replica the others do not know yet would stay without a successor.
	return eachSays(ctx, clients, func(ctx context.Context, client *redis.Client) (string, error) {
		nodes, err := client.ClusterNodes(ctx).Result()
		return fmt.Sprintf("replicas:%d", strings.Count(nodes, "slave")), err
	}, fmt.Sprintf("replicas:%d", len(replicas)))
}

// firstSlot is the first slot of the i-th of n masters.
func firstSlot(i, n int) int { return (i*redisSlots + n - 1) / n }

func clusterInfo(ctx context.Context, client *redis.Client) (string, error) {
	return client.ClusterInfo(ctx).Result()
}

func replicationInfo(ctx context.Context, client *redis.Client) (string, error) {
	return client.Info(ctx, "replication").Result()
}

// eachSays waits until the answers of all nodes hold all parts.
func eachSays(ctx context.Context, clients []*redis.Client, ask func(context.Context, *redis.Client) (string, error), parts ...string) error {
	for _, client := range clients {
		err := await(ctx, nil, func() error {
			answer, err := ask(ctx, client)
			for _, part := range parts {
				if err == nil && !strings.Contains(answer, part) {
					err = fmt.Errorf("no %s; a node says:\n%s", part, answer)
				}
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("the cluster did not form in time: %w", err)
		}
	}
	return nil
}
