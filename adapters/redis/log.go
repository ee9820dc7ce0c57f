package redis

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo sends the driver's messages of all clients in the process to log. By default the driver writes to standard
// error, a line for every failed connection.
func LogTo(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

type driverLog struct{ log *slog.Logger }

// Printf gets messages about failing and recovering connections. The level is debug, since readiness and the breaker
// report the same.
func (d driverLog) Printf(ctx context.Context, format string, v ...any) {
	d.log.DebugContext(ctx, "redis driver", "said", fmt.Sprintf(format, v...))
}
