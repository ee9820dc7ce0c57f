package middleware

import (
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
)

// forwardedHeaders are the headers by which proxies tell the address of their client.
var forwardedHeaders = []string{"X-Real-Ip", fiber.HeaderXForwardedFor, fiber.HeaderForwarded}

// Forwarded calls notice when a peer that is no trusted proxy tells the address of another client. Behind such a proxy all
// clients share the limits of a single address. After a notice the middleware looks again when the interval has passed.
func Forwarded(interval time.Duration, notice func(c *fiber.Ctx, peer, header string)) fiber.Handler {
	var next atomic.Int64 // Unix seconds
	return func(c *fiber.Ctx) error {
		now, after := time.Now().Unix(), next.Load()
		if now < after {
			return c.Next()
		}
		for _, header := range forwardedHeaders {
			if len(c.Request().Header.Peek(header)) == 0 || c.IsProxyTrusted() {
				continue
			}
			if next.CompareAndSwap(after, now+int64(interval/time.Second)) {
				notice(c, c.Context().RemoteIP().String(), header)
			}
			break
		}
		return c.Next()
	}
}
