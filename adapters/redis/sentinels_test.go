package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
)

// sentinels are a Redis with a replica, and three sentinels that let the replica take over. They call the master
// "main".
type sentinels struct {
	master, replica *backing.Server
	hosts           string // of the sentinels: host:port,host:port,…
}

// startSentinels starts the processes for a test. The first password is that of master and replica. A certificate makes
// TLS the only way to all processes, and between them.
func startSentinels(t *testing.T, password, sentinelPassword string, certificate *backing.Certificate) *sentinels {
	t.Helper()
	start := func(p backing.RedisProcessSpec) *backing.Server {
		p.TLS = certificate
		return backing.StartForTest(t, func(ctx context.Context) (*backing.Server, error) {
			return backing.StartRedisProcess(ctx, backing.Options{Logf: t.Logf}, p)
		})
	}
	node := backing.RedisProcessSpec{Password: password, Settings: []string{
		"--repl-diskless-sync-delay", "0", "--requirepass", password, "--masterauth", password,
	}}
	s := &sentinels{master: start(node)}
	address := strings.Replace(s.master.HostPort(), ":", " ", 1)
	node.Settings = append(node.Settings, "--replicaof", address)
	s.replica = start(node)
	watcher := backing.RedisProcessSpec{Password: sentinelPassword, Sentinel: strings.Join([]string{
		"sentinel monitor main " + address + " 2",
		// Short enough to wait for a failover, and longer than a busy machine suspends a process.
		"sentinel down-after-milliseconds main 1500",
		"sentinel failover-timeout main 5000",
		"sentinel auth-pass main " + password,
		"requirepass " + sentinelPassword,
		"sentinel sentinel-pass " + sentinelPassword, // sentinels ask each other for it, too
		"",
	}, "\n")}
	var hosts []string
	for range 3 {
		hosts = append(hosts, start(watcher).HostPort())
	}
	s.hosts = strings.Join(hosts, ",")
	for _, host := range hosts {
		awaitFellows(t, &goredis.Options{Addr: host, Password: sentinelPassword, TLSConfig: certificate.ClientTLSConfig()})
	}
	return s
}

// awaitFellows waits until a sentinel knows the replica and the others: before that, nobody can take over.
func awaitFellows(t *testing.T, sentinel *goredis.Options) {
	t.Helper()
	client := goredis.NewClient(sentinel)
	defer func() { require.NoError(t, client.Close()) }()
	require.Eventually(t, func() bool {
		info, err := client.Info(t.Context(), "sentinel").Result()
		return err == nil && strings.Contains(info, "status=ok") && strings.Contains(info, "slaves=1,sentinels=3")
	}, time.Minute, 20*time.Millisecond, "the sentinels know each other")
}
