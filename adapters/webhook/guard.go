package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"

	"partnerdeposits/core/fault"
)

var errNotPublic = errors.New("webhook: the address is not public")

// guardian knows the special ranges of IPv4 and IPv6. To them comes an address that is public by its number only: the
// host of virtual machines on Azure.
var guardian = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")))

// public reports whether anyone on the internet would be connected to the same host at ip.
func public(ip netip.Addr) bool {
	return guardian.SafeAddr(ip.Unmap()) == nil
}

// local reports whether ip may be dialled where insecure targets are allowed: anything but a link's own addresses, behind
// which clouds keep their credentials.
func local(ip netip.Addr) bool {
	return !ip.Unmap().IsLinkLocalUnicast() && !ip.IsMulticast() && ip.String() != "fd00:ec2::254"
}

// guardBy makes a dialer's Control: it sees the address that is about to be connected, after every resolution.
func guardBy(allowed func(netip.Addr) bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(target.Addr()) {
			return errNotPublic
		}
		return nil
	}
}

// TargetCheck implements ports.TargetCheck: the friendly answer at subscription time to what the dialer would refuse.
type TargetCheck struct {
	resolver *net.Resolver
	insecure bool
}

// lookupPatience bounds how long a create request waits for a name server.
const lookupPatience = 2 * time.Second

// NewTargetCheck checks against public addresses, or, where insecure, the little that is refused there.
func NewTargetCheck(insecure bool) *TargetCheck {
	return &TargetCheck{resolver: &net.Resolver{PreferGo: true}, insecure: insecure}
}

// Check implements ports.TargetCheck.
func (t *TargetCheck) Check(ctx context.Context, host string) error {
	refused := fault.ErrInvalidField.WithField("url", "leads to an address that is not public")
	name := asDialled(host)
	ip, err := netip.ParseAddr(name)
	switch {
	case err == nil && t.insecure && local(ip), err == nil && public(ip):
		return nil
	case err == nil:
		return refused
	case t.insecure:
		return nil
	case endsInNumber(name):
		return fault.ErrInvalidField.WithField("url", "has a host that is neither a name nor an address")
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return refused
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	addresses, err := t.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil //nolint:nilerr // it may resolve tomorrow, and the dialer looks again
	}
	for _, ip := range addresses {
		if !public(ip) {
			return refused
		}
	}
	return nil
}

// asDialled gives host as the transport hands it to the dialer, in which ①②⑦.⓪.⓪.① is 127.0.0.1, in lower case and
// without the dot of a full name.
func asDialled(host string) string {
	return strings.ToLower(strings.TrimSuffix(asASCII(host), "."))
}

func asASCII(host string) string {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

// endsInNumber reports whether other software might read host as an IPv4 address: 2130706433, 0x7f.1, 0177.0.0.1. No
// name has a last label like that.
func endsInNumber(host string) bool {
	label := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}
