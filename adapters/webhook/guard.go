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

var guardian = ssrf.New(ssrf.WithAnyPort())

// publicOnly is the dialer's Control: it sees the address that is about to be connected, after every resolution.
func publicOnly(network, address string, c syscall.RawConn) error {
	if err := guardian.Safe(network, address, c); err != nil {
		return errNotPublic
	}
	return nil
}

// TargetCheck implements ports.TargetCheck: the friendly answer at subscription time to what publicOnly would refuse.
type TargetCheck struct {
	resolver *net.Resolver
	insecure bool
}

// lookupPatience bounds how long a create request waits for a name server.
const lookupPatience = 2 * time.Second

// NewTargetCheck checks against public addresses, or, where insecure, not at all.
func NewTargetCheck(insecure bool) *TargetCheck {
	return &TargetCheck{resolver: &net.Resolver{PreferGo: true}, insecure: insecure}
}

// Check implements ports.TargetCheck.
func (t *TargetCheck) Check(ctx context.Context, host string) error {
	if t.insecure {
		return nil
	}
	refused := fault.ErrInvalidField.WithField("url", "leads to an address that is not public")
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil {
		ascii = host // an address, or a name that does not resolve
	}
	if ip, err := netip.ParseAddr(ascii); err == nil {
		if guardian.SafeAddr(ip) != nil || ip.Zone() != "" {
			return refused
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	addresses, err := t.resolver.LookupNetIP(ctx, "ip", ascii)
	if err != nil {
		if legacyAddress(ascii) {
			return refused
		}
		return nil
	}
	for _, ip := range addresses {
		if guardian.SafeAddr(ip.Unmap()) != nil {
			return refused
		}
	}
	return nil
}

// legacyAddress reports whether other software might read host as an IPv4 address: 2130706433, 0x7f.1, 0177.0.0.1.
func legacyAddress(host string) bool {
	for _, label := range strings.Split(strings.ToLower(host), ".") {
		if label == "" || strings.Trim(strings.TrimPrefix(label, "0x"), "0123456789abcdef") != "" || label[0] < '0' || label[0] > '9' {
			return false
		}
	}
	return true
}
