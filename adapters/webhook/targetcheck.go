package webhook

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"partnerdeposits/core/fault"
)

// TargetCheck refuses the hosts of subscriptions that the dialer would refuse.
type TargetCheck struct {
	resolver *net.Resolver
	insecure bool
}

// lookupTimeout bounds how long the creation of a subscription waits for a name server.
const lookupTimeout = 2 * time.Second

// NewTargetCheck returns a check that allows public addresses only; with insecure, all addresses but the few that
// are refused even in development.
func NewTargetCheck(insecure bool) *TargetCheck {
	return &TargetCheck{resolver: &net.Resolver{PreferGo: true}, insecure: insecure}
}

// CheckHost returns invalid_field for a host that is, or resolves to, an address that may not be dialled. A name that
// does not resolve passes.
func (t *TargetCheck) CheckHost(ctx context.Context, host string) error {
	refused := fault.ErrInvalidField.WithField("url", "leads to an address that is not public")
	name := asDialled(host)
	ip, err := netip.ParseAddr(name)
	switch {
	case err == nil && t.insecure && allowedInsecure(ip), err == nil && public(ip):
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
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := t.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil //nolint:nilerr // the name may resolve tomorrow, and the dialer checks again
	}
	for _, ip := range addresses {
		if !public(ip) {
			return refused
		}
	}
	return nil
}

// asDialled returns a host in the form in which a connection is made to it, in lower case and without a final
// dot. net/http turns ①②⑦.⓪.⓪.① into 127.0.0.1.
func asDialled(host string) string {
	return strings.ToLower(strings.TrimSuffix(asASCII(host), "."))
}

func asASCII(host string) string {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

// endsInNumber reports whether other software might read a host as an IPv4 address, as in 2130706433, 0x7f.1 or
// 0177.0.0.1. The last label of a domain name is never a number.
func endsInNumber(host string) bool {
	label := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}
