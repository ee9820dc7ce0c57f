package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNoWrites is the error of a Redis that answers but takes no writes, or not for all keys.
var ErrNoWrites = errors.New("it takes no writes")

const (
	probeKey  = "svc:probe:"
	probeLife = time.Minute
	// clusterProbes is the number of test keys that are written in a Redis Cluster, enough to reach every master of a
	// cluster of usual size.
	clusterProbes = 32
)

// CheckWrites checks that Redis takes writes: it writes a test key that expires, and in a cluster enough keys to reach
// every master.
//
// Returns ErrNoWrites for a Redis that answers but takes no writes, and otherwise the error of the connection.
func CheckWrites(ctx context.Context, client redis.UniversalClient) error {
	probes := 1
	if _, ok := client.(*redis.ClusterClient); ok {
		probes = clusterProbes
	}
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range probes {
			p.Set(ctx, probeKey+strconv.Itoa(i), "", probeLife)
		}
		return nil
	})
	if err == nil {
		return nil
	}
	if answered(err) || client.Ping(ctx).Err() == nil {
		return fmt.Errorf("%w: %w", ErrNoWrites, err)
	}
	return err
}

// MaxmemoryPolicy returns the maxmemory-policy of a Redis server, or of any server of a cluster; "" if the server does
// not report it.
func MaxmemoryPolicy(ctx context.Context, client redis.UniversalClient) string {
	// The error is ignored: some hosting providers forbid the Redis command INFO.
	info, _ := client.Info(ctx, "memory").Result()
	_, policy, _ := strings.Cut(info, "maxmemory_policy:")
	policy, _, _ = strings.Cut(policy, "\r\n")
	return policy
}
