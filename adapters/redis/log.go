package redis

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// SetDriverLogger sends the messages of the Redis driver, for all clients in the process, to log. By default the driver
// writes a line to standard error for every failed connection.
func SetDriverLogger(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

type driverLog struct{ log *slog.Logger }

// Printf logs the Redis driver's messages about failing and recovering connections. The level is debug, since
// readiness and the circuit breaker report the same.
func (d driverLog) Printf(ctx context.Context, format string, v ...any) {
	d.log.DebugContext(ctx, "redis driver", "said", fmt.Sprintf(format, v...))
}
