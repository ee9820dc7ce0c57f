package redis

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo takes what the driver has to say, for every client of the process, into log. By itself the driver writes plain
// lines to standard error, one for every failed connection.
func LogTo(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

type driverLog struct{ log *slog.Logger }

// Printf is called for connections that fail and come back; the guard and readiness tell of that in their own words.
func (d driverLog) Printf(ctx context.Context, format string, v ...any) {
	d.log.DebugContext(ctx, "redis driver", "said", fmt.Sprintf(format, v...))
}
