package middleware

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
)

var forwardedHeaders = []string{headerRealIP, fiber.HeaderXForwardedFor, fiber.HeaderForwarded}

// ProxyHeaderWarning describes proxy headers that suggest a wrong setting of trusted proxies.
type ProxyHeaderWarning struct {
	Peer   string // Address of the peer that sent the proxy headers.
	Header string // Header in which the peer sent another client's address.
	// Whether a trusted proxy sent both X-Real-IP and X-Forwarded-For, one of which its client may have made up.
	Both bool
}

// WarnProxyHeaders returns the middleware that calls notice when a peer that is no trusted proxy sends another
// client's address: all clients behind it share one rate limit. Behind ClientAddress, it also calls notice when a
// trusted proxy sends both headers. Each case is noticed once per interval, and again with the next request if notice
// returns false because its note was lost.
func WarnProxyHeaders(interval time.Duration, notice func(*fiber.Ctx, ProxyHeaderWarning) bool) fiber.Handler {
	// Unix seconds from which notice may be called again, for each of the two cases.
	var untrusted, both atomic.Int64
	return func(c *fiber.Ctx) error {
		n, next := noticeOf(c), &untrusted
		if n.Both {
			next = &both
		}
		now, after := time.Now().Unix(), next.Load()
		if n.Header != "" && now >= after && next.CompareAndSwap(after, now+int64(interval/time.Second)) {
			n.Peer = c.Context().RemoteIP().String()
			if !notice(c, n) {
				next.Store(now)
			}
		}
		return c.Next()
	}
}

// noticeOf returns a request's ProxyHeaderWarning without the peer; Header is "" if nothing is wrong.
func noticeOf(c *fiber.Ctx) ProxyHeaderWarning {
	sent := func(header string) bool { return len(c.Request().Header.Peek(header)) > 0 }
	at := slices.IndexFunc(forwardedHeaders, sent)
	switch {
	case at < 0:
		return ProxyHeaderWarning{}
	case !c.IsProxyTrusted():
		return ProxyHeaderWarning{Header: forwardedHeaders[at]}
	case sent(headerRealIP) && sent(fiber.HeaderXForwardedFor):
		return ProxyHeaderWarning{Header: headerRealIP, Both: true}
	}
	return ProxyHeaderWarning{}
}
