package middleware

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
)

// forwardedHeaders are the headers by which proxies tell the address of their client.
var forwardedHeaders = []string{headerRealIP, fiber.HeaderXForwardedFor, fiber.HeaderForwarded}

// Notice is a reason to look at the settings of proxies.
type Notice struct {
	Peer   string // address
	Header string // by which the peer told the address of another client
	// the peer is a trusted proxy and sent X-Real-IP and X-Forwarded-For, one of which its client may have made up
	Both bool
}

// Forwarded calls notice when a peer that is no trusted proxy tells the address of another client: behind such a proxy
// all clients share the limits of a single address. Behind ClientAddress, it also calls notice when a trusted proxy
// sends both headers. After a notice of a kind the middleware looks again when the interval has passed.
func Forwarded(interval time.Duration, notice func(*fiber.Ctx, Notice)) fiber.Handler {
	var untrusted, both atomic.Int64 // Unix seconds of the next look
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

// noticeOf gives no peer, and no header where there is nothing to notice.
func noticeOf(c *fiber.Ctx) Notice {
	sent := func(header string) bool { return len(c.Request().Header.Peek(header)) > 0 }
	at := slices.IndexFunc(forwardedHeaders, sent)
	switch {
	case at < 0:
		return Notice{}
	case !c.IsProxyTrusted():
		return Notice{Header: forwardedHeaders[at]}
	case sent(headerRealIP) && sent(fiber.HeaderXForwardedFor):
		return Notice{Header: headerRealIP, Both: true}
	}
	return Notice{}
}
