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

// Opaque is New where Setup.Redis of servicetest alone needs the database, for callers without go-redis (see Limits).
func Opaque(t testing.TB) io.Closer {
	t.Helper()
	return New(t)
}

// Limits gives what services have on a Redis. client is a redis.UniversalClient, or nil for a Redis that is away: the
// signature does not name the type, whose hundreds of methods would be compiled into the object of every caller.
func Limits(t testing.TB, client io.Closer, patience time.Duration, cipher *secrets.Cipher,
	log *slog.Logger) (ports.Limiter, ports.IdempotencyCache) {
	t.Helper()
	open, ok := client.(goredis.UniversalClient)
	if !ok { // connections are refused: services work without Redis; they are only slower
		open = goredis.NewClient(&goredis.Options{
			MaxRetries: -1, DialerRetries: 1,
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("redistest: Redis is away")
			},
		})
	}
	breaker := redis.NewBreaker(open).WithPatience(patience)
	t.Cleanup(breaker.Close)
	limiter := redis.NewLimiter(open, breaker, func() {})
	return limiter, redis.NewIdempotencyCache(limiter, cipher, log)
}
