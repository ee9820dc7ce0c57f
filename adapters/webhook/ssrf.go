package webhook

import (
	"errors"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

var errNotPublic = errors.New("webhook: the address is not public")

// specialRanges checks addresses against the special ranges of IPv4 and IPv6, and the host of virtual machines on
// Azure, which has a public address.
var specialRanges = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")))

// public reports whether an IP address leads to the same host from everywhere on the internet.
func public(ip netip.Addr) bool {
	return specialRanges.SafeAddr(ip.Unmap()) == nil
}

// allowedInsecure reports whether an IP address may be dialled when WEBHOOK_ALLOW_INSECURE_TARGETS is set: all but
// link-local and similar ones, where clouds serve credentials.
func allowedInsecure(ip netip.Addr) bool {
	return !ip.Unmap().IsLinkLocalUnicast() && !ip.IsMulticast() && ip.String() != "fd00:ec2::254"
}

// addressCheck returns a check for net.Dialer.Control, which runs for the address of each connection, after the
// name was resolved.
func addressCheck(allowed func(netip.Addr) bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(target.Addr()) {
			return errNotPublic
		}
		return nil
	}
}
