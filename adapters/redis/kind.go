package redis

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrRestartForCluster ends a process whose REDIS_URL is a single address of a Redis Cluster, if that address did not
// answer when the process started.
var ErrRestartForCluster = errors.New(
	"redis: REDIS_URL is an address of a Redis Cluster that did not answer when this process started; start the process again to follow the cluster")

// Open makes a Redis client for a process, as NewClient does, and in a cluster connects to all nodes. known is
// false if no server answered within half a second; AwaitTopology then repeats the query. Returns ErrInvalidURL.
func Open(ctx context.Context, redisURL string,
	options ...Option) (client redis.UniversalClient, known bool, err error) {
	o, err := parseURL(redisURL)
	if err != nil {
		return nil, false, err
	}
	for _, set := range options {
		set(o)
	}
	// Sentinels, several addresses, or a database other than 0 show without a query whether Redis is a cluster.
	if o.MasterName != "" || len(o.Addrs) > 1 || o.DB > 0 {
		return newClient(o), true, nil
	}
	single := newClient(o)
	o.IsClusterMode, err = isCluster(ctx, single)
	if !o.IsClusterMode {
		return single, err == nil, nil
	}
	_ = single.Close()
	return newClient(o), true, nil
}

// AwaitTopology waits until Redis answers, if it did not answer Open, and then until ctx ends. Returns
// ErrRestartForCluster if Redis turns out to be a cluster, and nil when ctx ends.
func AwaitTopology(ctx context.Context, client redis.UniversalClient) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		switch cluster, err := isCluster(ctx, client); {
		case err != nil:
		case cluster:
			return ErrRestartForCluster
		default:
			<-ctx.Done()
			return nil
		}
	}
}

// isCluster reports whether a Redis server is a node of a cluster.
func isCluster(ctx context.Context, client redis.UniversalClient) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	info, err := client.Info(ctx, "cluster").Result()
	if answered(err) {
		err = nil
	}
	return strings.Contains(info, "cluster_enabled:1"), err
}
