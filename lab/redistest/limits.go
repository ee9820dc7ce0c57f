package redistest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/secrets"
	ports "partnerdeposits/ports/platform"
)

// NewClientAsCloser returns a client on an empty Redis database as an io.Closer, so that callers need not link
// go-redis.
func NewClientAsCloser(t testing.TB) io.Closer {
	t.Helper()
	return New(t)
}

// NewLimiterAndCache returns the services' rate limiter and idempotency cache. client is a redis.UniversalClient,
// whose methods would be compiled into every caller, or nil for an unreachable Redis.
func NewLimiterAndCache(t testing.TB, client io.Closer, patience time.Duration, cipher *secrets.Cipher,
	log *slog.Logger) (ports.Limiter, ports.IdempotencyCache) {
	t.Helper()
	open, ok := client.(goredis.UniversalClient)
	// Without a Redis, connections are refused, and the services work more slowly.
	if !ok {
		open = goredis.NewClient(&goredis.Options{
			MaxRetries: -1, DialerRetries: 1,
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("redistest: Redis is away")
			},
		})
	}
	breaker := redis.NewBreaker(open).WithCommandTimeout(patience)
	t.Cleanup(breaker.Close)
	return redis.NewLimiter(open, breaker, func() {}), redis.NewIdempotencyCache(open, breaker, cipher, log)
}
