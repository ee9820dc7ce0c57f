package middleware

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// headerRealIP is the header in which a trusted proxy sends its client's address; fiber reads it.
const headerRealIP = "X-Real-Ip"

// ClientAddress returns the middleware that takes a client's address from X-Forwarded-For where a trusted proxy
// sent no X-Real-IP: the last entry that is no trusted proxy. An entry that is no address ends the search, and the
// proxy's own address counts. trusted lists addresses and CIDR ranges.
//
// believed names the one header that counts; the other is removed, since a proxy passes on what its client made
// up. If believed is "", X-Real-IP comes first. Later handlers see both headers only if a trusted proxy sent both.
func ClientAddress(trusted []string, believed string) fiber.Handler {
	ranges := prefixes(trusted)
	return func(c *fiber.Ctx) error {
		header := &c.Request().Header
		switch believed {
		case "X-Forwarded-For":
			header.Del(headerRealIP)
		case "X-Real-IP":
			header.Del(fiber.HeaderXForwardedFor)
		}
		lines := header.PeekAll(fiber.HeaderXForwardedFor)
		if len(lines) > 0 && len(header.Peek(headerRealIP)) == 0 && c.IsProxyTrusted() {
			if client, found := lastUntrusted(string(bytes.Join(lines, []byte(","))), ranges); found {
				header.Set(headerRealIP, client.String())
			}
			header.Del(fiber.HeaderXForwardedFor)
		}
		return c.Next()
	}
}

func lastUntrusted(chain string, trusted []netip.Prefix) (client netip.Addr, found bool) {
	for entry := ""; chain != ""; {
		chain, entry = cutLast(chain)
		addr, err := netip.ParseAddr(strings.TrimSpace(entry))
		if err != nil {
			return netip.Addr{}, false
		}
		if addr = addr.Unmap(); !contains(trusted, addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

func cutLast(chain string) (rest, entry string) {
	if at := strings.LastIndexByte(chain, ','); at >= 0 {
		return chain[:at], chain[at+1:]
	}
	return "", chain
}

func contains(ranges []netip.Prefix, addr netip.Addr) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}

// prefixes parses addresses and CIDR ranges and skips invalid ones: settings are validated at the start.
func prefixes(all []string) (out []netip.Prefix) {
	for _, one := range all {
		if r, err := netip.ParsePrefix(one); err == nil {
			out = append(out, r.Masked())
		} else if addr, err := netip.ParseAddr(one); err == nil {
			out = append(out, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return out
}
