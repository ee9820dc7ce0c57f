package redis_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/redistest"
	ports "partnerdeposits/ports/platform"
)

// afterFailover is the longest time from a failover to the use of the new master.
const afterFailover = 2 * time.Second

// soon bounds failovers of Redis itself on a busy machine.
const soon = 30 * time.Second

func clientOf(t *testing.T, redisURL string, options ...redis.Option) goredis.UniversalClient {
	t.Helper()
	client, err := redis.NewClient(redisURL, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// write sets a key, like a request that has a second.
func write(t *testing.T, client goredis.UniversalClient, key string) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return client.Set(ctx, key, "", 0).Err()
}

// awaitWrites waits for a successful write. The writes go on meanwhile, as those of the service do.
func awaitWrites(t *testing.T, client goredis.UniversalClient, key string, atMost time.Duration, msg string) {
	t.Helper()
	require.Eventually(t, func() bool { return write(t, client, key) == nil }, atMost, 20*time.Millisecond, msg)
}

// awaitMaster waits, under writes, until a replica is a master.
func awaitMaster(t *testing.T, replica *backing.Server, password string, client goredis.UniversalClient, key string) {
	t.Helper()
	options, err := goredis.ParseURL(replica.URL())
	require.NoError(t, err)
	options.Password = password
	direct := goredis.NewClient(options)
	defer func() { require.NoError(t, direct.Close()) }()
	require.Eventually(t, func() bool {
		_ = write(t, client, key) // refused until the failover is over
		role, err := direct.Do(t.Context(), "ROLE").Slice()
		return err == nil && role[0] == "master"
	}, soon, 20*time.Millisecond, "Redis fails over")
}

// A dead master answers no MOVED, so only reading the slots again shows its successor.
func TestCluster_AfterAFailover_TheSuccessorIsUsedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 1)
	client := clientOf(t, cluster.URL())
	const key = "svc:some"
	require.NoError(t, write(t, client, key))
	at, err := cluster.MasterIndexOfKey(t.Context(), key)
	require.NoError(t, err)
	require.NoError(t, cluster.Masters[at].Kill())
	require.Error(t, write(t, client, key))

	awaitMaster(t, cluster.Replicas[at], "", client, key)
	awaitWrites(t, client, key, afterFailover, "the successor is used")
}

// The client follows a Redis Cluster of three masters to each node, and limiter and cache keep their rules on it. The
// probe names a master that is away. A process that took the cluster for a single server ends.
func TestCluster_IsFollowed_Counted_Probed_AndAwaited(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	client, known, err := redis.Open(t.Context(), cluster.Masters[1].URL()) // managed clusters have a single address
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	require.True(t, known)
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		require.NoError(t, write(t, client, key), key)
	}
	// A command reaches keys of a single node only.
	checkCache(t, newCache(t, client, patient(t, client)))
	checkLimiter(t, newLimiter(t, client), true)

	for _, master := range cluster.Masters {
		client := clientOf(t, cluster.URL())
		require.Eventually(t, func() bool { return redis.CheckWrites(t.Context(), client) == nil }, soon, 20*time.Millisecond,
			"all masters are there")
		require.NoError(t, master.Kill())
		require.ErrorIs(t, redis.CheckWrites(t.Context(), client), redis.ErrNoWrites)
		require.NoError(t, master.Restart(t.Context()))
	}

	node := cluster.Masters[2]
	require.NoError(t, node.Stop(true))
	single, known, err := redis.Open(t.Context(), node.URL())
	require.NoError(t, err)
	defer func() { require.NoError(t, single.Close()) }()
	require.False(t, known)
	ended := make(chan error, 1)
	go func() { ended <- redis.AwaitTopology(t.Context(), single) }()
	require.NoError(t, node.Restart(t.Context()))
	require.ErrorIs(t, <-ended, redis.ErrRestartForCluster)
}

// Requests that a process has counted itself reach the nodes that are there, whatever the others do.
func TestCluster_ANodeHangs_TheTalliesOfTheOthersAreTold(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	client := clientOf(t, cluster.URL())
	var uncounted atomic.Int64
	limiter := redis.NewLimiter(client, newBreaker(t, client).WithCommandTimeout(3*time.Second),
		func() { uncounted.Add(1) })
	byNode := map[int]ports.LimitRule{}
	for n := 0; len(byNode) < len(cluster.Masters); n++ {
		rule := ports.LimitRule{Name: "default", Key: fmt.Sprint(n), PerMinute: limit, Tallied: true}
		node, err := cluster.MasterIndexOfKey(t.Context(), "svc:rate:{"+rule.Key+"}:default")
		require.NoError(t, err)
		byNode[node] = rule
	}
	const requests = 4
	for _, rule := range byNode {
		require.Equal(t, limit-1, limiter.Allow(t.Context(), rule).Remaining)
	}
	require.NoError(t, cluster.Masters[0].Pause())
	for _, rule := range byNode {
		for range requests {
			require.True(t, limiter.Allow(t.Context(), rule).Allowed)
		}
	}
	for node, rule := range byNode {
		if node != 0 {
			require.Eventually(t, func() bool {
				var at, sum int
				_, err := fmt.Sscan(client.Get(t.Context(), "svc:rate:{"+rule.Key+"}:default").Val(), &at, &sum)
				return err == nil && sum == requests+1
			}, 2*time.Second, 10*time.Millisecond)
		}
	}
	require.Eventually(t, func() bool { return uncounted.Load() == requests }, soon, 10*time.Millisecond)
	require.NoError(t, cluster.Masters[0].Resume())
}

func TestOpen_ASingleServer_IsKnown_AndOneThatIsAwayIsNot(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{redistest.EmptyDatabaseURL(t): true, "redis://127.0.0.1:1": false} {
		client, known, err := redis.Open(t.Context(), url)
		require.NoError(t, err)
		require.NoError(t, client.Close())
		require.Equal(t, want, known)
	}
}

func TestAwaitKind_ASingleServer_GoesOn(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond) // the question comes after a second
	defer stop()
	require.NoError(t, redis.AwaitTopology(ctx, redistest.New(t)))
	require.Error(t, ctx.Err(), "it waited for the end")
}

func TestProbe_ARedisThatTakesNoWrites_IsToldFromOneThatIsAway(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	client := clientOf(t, server.URL())
	require.NoError(t, redis.CheckWrites(t.Context(), client))
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.ErrorIs(t, redis.CheckWrites(t.Context(), client), redis.ErrNoWrites)
	require.NoError(t, server.Kill())
	err := redis.CheckWrites(t.Context(), client)
	require.Error(t, err)
	require.NotErrorIs(t, err, redis.ErrNoWrites)
}

func TestSentinels_WithPasswordsOfTheirOwn_AreFollowedThroughAFailover(t *testing.T) {
	t.Parallel()
	const password, sentinelPassword = "of-the-data", "of-the-sentinels"
	all := startSentinels(t, password, sentinelPassword, nil)
	redisURL := "redis-sentinel://:" + password + "@" + all.hosts + "/0?master=main"
	require.ErrorContains(t, write(t, clientOf(t, redisURL), "key"),
		"all sentinels specified in configuration are unreachable")

	client := clientOf(t, redisURL, redis.WithSentinelPassword(sentinelPassword))
	require.NoError(t, write(t, client, "key"))
	require.NoError(t, all.master.Kill())

	awaitMaster(t, all.replica, password, client, "key")
	awaitWrites(t, client, "key", afterFailover, "the new master is used")
}

func TestSentinels_WithTLS_AreTrustedByTheirAuthorityAlone(t *testing.T) {
	t.Parallel()
	const password = "of-all"
	certificate, err := backing.NewCertificate()
	require.NoError(t, err)
	all := startSentinels(t, password, password, certificate)
	hosts := "://:" + password + "@" + all.hosts + "/0?master=main"
	trusting := func(o *goredis.UniversalOptions) { o.TLSConfig.RootCAs = certificate.ClientTLSConfig().RootCAs }
	require.Error(t, write(t, clientOf(t, "redis-sentinel"+hosts, redis.WithSentinelPassword(password)), "key"),
		"only TLS is served")
	distrusting := clientOf(t, "rediss-sentinel"+hosts, redis.WithSentinelPassword(password))
	require.Eventually(t, func() bool { // a busy machine may be too slow for the handshakes
		err := write(t, distrusting, "key")
		return err != nil && strings.Contains(err.Error(), "certificate signed by unknown authority")
	}, time.Minute, 10*time.Millisecond)

	// The test above follows a failover.
	require.NoError(t, write(t, clientOf(t, "rediss-sentinel"+hosts,
		redis.WithSentinelPassword(password), trusting), "key"))
}
