package middleware

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
)

// forwardedHeaders lists the headers in which proxies send the address of their client.
var forwardedHeaders = []string{headerRealIP, fiber.HeaderXForwardedFor, fiber.HeaderForwarded}

// ProxyHeaderWarning describes proxy headers in a request that suggest a wrong setting of trusted proxies.
type ProxyHeaderWarning struct {
	Peer   string // Address of the peer (the other end of the connection) that sent the proxy headers.
	Header string // Name of the header in which the peer sent the address of another client.
	// Whether the peer is a trusted proxy that sent both X-Real-IP and X-Forwarded-For, one of which its client may
	// have made up.
	Both bool
}

// WarnProxyHeaders returns the middleware that calls notice when a peer that is no trusted proxy sends the address of
// another client: behind such a proxy all clients share the rate limits of one address. Placed behind
// ClientAddress, it also calls notice when a trusted proxy sends both headers. It calls notice at most once per
// interval for each of the two cases.
func WarnProxyHeaders(interval time.Duration, notice func(*fiber.Ctx, ProxyHeaderWarning)) fiber.Handler {
	// For each of the two cases, the Unix time in seconds from which notice may be called again.
	var untrusted, both atomic.Int64
	return func(c *fiber.Ctx) error {
		n, next := noticeOf(c), &untrusted
		if n.Both {
			next = &both
		}
		now, after := time.Now().Unix(), next.Load()
		if n.Header != "" && now >= after && next.CompareAndSwap(after, now+int64(interval/time.Second)) {
			n.Peer = c.Context().RemoteIP().String()
			notice(c, n)
		}
		return c.Next()
	}
}

// noticeOf checks the proxy headers of a request and returns a Notice without the peer. Its Header is "" if
// nothing is wrong.
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
