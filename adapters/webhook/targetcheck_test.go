package webhook

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/hostiletest"
)

// The hosts of endpoints that must lead nowhere, as they stand in a URL. evilNames resolves
// the names among them.
var forbiddenHosts = []string{
	// This machine, and its names.
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "localhost", "LOCALHOST", "localhost.", "app.localhost",
	"0.0.0.0", "0.1.2.3", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0001]",
	// Private networks.
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1",
	"100.127.255.255",
	"[fc00::1]", "[fd12:3456:789a::1]", "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]", "[fec0::1]",
	// The link, and where clouds keep credentials.
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
	"[fd00:ec2::254]",
	"[fe80::1]", "[fe80::1%25lo]", "[fe80::a9fe:a9fe%25eth0]", "[::1%25lo]", "[febf::1]",
	// Broadcast, multicast, reserved, for documentation and measurement.
	"255.255.255.255", "224.0.0.1", "239.255.255.250", "240.0.0.1", "192.0.0.1", "192.0.2.1", "198.51.100.7",
	"203.0.113.9", "198.18.0.1", "198.19.255.255",
	"192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[3fff::1]",
	"[100::1]", "[2620:4f:8000::1]",
	// IPv4 within IPv6: mapped in its spellings, compatible, translated, 6to4, Teredo, ORCHID.
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::FFFF:7F00:0001]", "[::ffff:10.0.0.1]",
	"[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
	"[::ffff:0.0.0.0]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]",
	"[64:ff9b::a9fe:a9fe]", "[64:ff9b::8.8.8.8]",
	"[64:ff9b:1::127.0.0.1]", "[64:ff9b:1:ffff::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2002:a9fe:a9fe::]",
	"[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:10::1]",
	// Other ways to write 127.0.0.1 and 169.254.169.254.
	"127.0.0.1.", "2130706433", "0x7f000001", "0X7F000001", "017700000001", "0x7f.1", "0x7f.0x0.0x0.0x1", "0177.0.0.1",
	"0177.0.0.01", "127.1", "127.0.1",
	"127.0.0.01", "127.000.000.001", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "0", "0x0", "00",
	// Digits and dots that are taken for others.
	"①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "𝟙𝟚𝟟.𝟘.𝟘.𝟙", "127.0.0.1。", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "ｌｏｃａｌｈｏｓｔ",
	"%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", "127.0.0.1\u00ad",
	// Names that lead there.
	"loopback.example", "loopback6.example", "mapped.example", "private.example", "metadata.example", "nat64.example",
	"any.example", "several.example", "LOOPBACK.example.",
}

var evilNames = names{
	"loopback.example": {"127.0.0.1"}, "loopback6.example": {"::1"}, "mapped.example": {"::ffff:127.0.0.1"},
	"private.example":  {"10.1.2.3"},
	"metadata.example": {"169.254.169.254 fd00:ec2::254"}, "nat64.example": {"64:ff9b::7f00:1"},
	"any.example":     {"0.0.0.0 ::"},
	"several.example": {"192.168.0.1 127.0.0.1 ::1"}, "app.localhost": {"127.0.0.1"},
	// A name server can say anything of any name.
	"2130706433": {"127.0.0.1"}, "0x7f000001": {"127.0.0.1"}, "127.1": {"127.0.0.1"}, "0x7f.1": {"127.0.0.1"},
	"0":              {"127.0.0.1"},
	"public.example": {"93.184.215.14"}, "rebinding.example": {"93.184.215.14", "127.0.0.1"},
	"mixed.example": {"93.184.215.14 127.0.0.1"},
}

// canary listens on this machine where nothing of ours may ever arrive.
func canary(t *testing.T) (r *receiver, port string) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	r = hostiletest.ServeOnListener(t, l, answering(ok, nil))
	_, port, _ = net.SplitHostPort(r.Address)
	six, err := net.Listen("tcp6", "[::1]:"+port)
	require.NoError(t, err)
	on6 := hostiletest.ServeOnListener(t, six, answering(ok, nil))
	t.Cleanup(func() {
		require.Zero(t, r.Conns.Load()+on6.Conns.Load(), "the canary was reached")
	})
	return r, port
}

// guarded makes a sender as in production, but for its resolver.
func guarded(t *testing.T, n names) *Sender {
	return newSender(t, func(c *Config) {
		c.AllowInsecure = false
		c.Resolver = n.resolver()
	})
}

func checker(n names) *TargetCheck {
	c := NewTargetCheck(false)
	c.resolver = n.resolver()
	return c
}

func TestSender_NeverReachesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(forbiddenHosts), 60)
	_, port := canary(t)
	s, check := guarded(t, evilNames), checker(evilNames)
	for _, host := range forbiddenHosts {
		for _, form := range []string{"https://%s:" + port + "/", "https://user:pw@%s:" + port + "/",
			"https://93.184.215.14:443@%s:" + port + "/?https://hooks.example/"} {
			target := fmt.Sprintf(form, host)
			a := s.Post(t.Context(), postTo(target), signedAt)
			require.Contains(t, []webhook.AttemptResult{webhook.ResultAddressBlocked, webhook.ResultDNSFailed}, a.Result,
				"%s: %s", target, a.Detail)
		}
		u, err := url.Parse("https://" + host + ":" + port + "/")
		if err != nil {
			continue
		}
		err = check.CheckHost(t.Context(), u.Hostname())
		require.ErrorIs(t, err, fault.ErrInvalidField, host)
		require.Contains(t, fault.FromError(err).Message, "url: ")
	}
}

// Without this test the test above would prove nothing: without the address check, many hosts lead to the canary.
func TestCanary_IsReachedWithoutTheGuard(t *testing.T) {
	t.Parallel()
	r := serve(t, answering(ok, nil))
	_, port, _ := net.SplitHostPort(r.Address)
	s := newSender(t, func(c *Config) { c.Resolver = evilNames.resolver() })
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "①②⑦.⓪.⓪.①",
		"１２７.０.０.１", "127。0。0。1", "loopback.example", "mapped.example", "0x7f000001", "0x7f.1"} {
		a := s.Post(t.Context(), postTo("http://"+host+":"+port), signedAt)
		require.Equal(t, webhook.ResultSuccess, a.Result, "%s: %s", host, a.Detail)
	}
	require.Positive(t, r.Conns.Load())
}

func TestSender_AtEveryPort_IsGuarded(t *testing.T) {
	t.Parallel()
	s := guarded(t, nil)
	for _, port := range []string{"", ":", ":1", ":22", ":25", ":80", ":443", ":2375", ":5432", ":6379", ":6443", ":8080",
		":9090", ":65535"} {
		a := s.Post(t.Context(), postTo("https://127.0.0.1"+port+"/"), signedAt)
		require.Equal(t, webhook.ResultAddressBlocked, a.Result, "%q: %s", port, a.Detail)
		require.Equal(t, "The host leads to an address that is not public.", a.Detail)
	}
}

func TestSender_AtAPortOfAnotherService_IsBlocked(t *testing.T) {
	t.Parallel()
	_, port := canary(t)
	for at, c := range map[string]struct {
		blocked  string
		insecure bool
		detail   string
	}{
		port: {port, false,
			"The URL has the port " + port + ", which is refused: it belongs to a service that does not take webhooks."},
		"0":     {"22", true, "The URL has the port 0, which is not between 1 and 65535."},
		"65536": {"22", true, "The URL has the port 65536, which is not between 1 and 65535."},
	} {
		n, err := strconv.ParseUint(c.blocked, 10, 16)
		require.NoError(t, err)
		s := newSender(t, func(cfg *Config) {
			cfg.AllowInsecure, cfg.BlockedPorts = c.insecure, []uint16{uint16(n)}
			cfg.AddressCheck = addressCheck(allowedInsecure) // the port alone is refused
		})
		a := s.Post(t.Context(), postTo("https://127.0.0.1:"+at+"/"), signedAt)
		require.Equal(t, webhook.ResultAddressBlocked, a.Result, a.Detail)
		require.Equal(t, c.detail, a.Detail)
	}
}

func TestSender_WhenANameChangesAfterItsCheck_IsGuarded(t *testing.T) {
	t.Parallel()
	_, port := canary(t)
	both := evilNames.resolver() // the name server answers the check and the dial in turn
	check := NewTargetCheck(false)
	check.resolver = both
	s := newSender(t, func(c *Config) {
		c.AllowInsecure = false
		c.Resolver = both
	})
	require.NoError(t, check.CheckHost(t.Context(), "rebinding.example"))
	a := s.Post(t.Context(), postTo("https://rebinding.example:"+port), signedAt)
	require.Equal(t, webhook.ResultAddressBlocked, a.Result, a.Detail)
	require.ErrorIs(t, check.CheckHost(t.Context(), "rebinding.example"), fault.ErrInvalidField)
}

// The dialer tries the addresses of a name in turn, and checks each of them.
func TestSender_OfANameWithPublicAndPrivateAddresses_DialsThePublicOnly(t *testing.T) {
	t.Parallel()
	_, port := canary(t)
	var dialled atomic.Int32
	s := newSender(t, func(c *Config) {
		c.Resolver = evilNames.resolver()
		c.AddressCheck = func(network, address string, raw syscall.RawConn) error {
			if err := addressCheck(public)(network, address, raw); err != nil {
				return err
			}
			dialled.Add(1)
			return syscall.ECONNREFUSED // the test opens no connection to the internet
		}
	})
	a := s.Post(t.Context(), postTo("https://mixed.example:"+port), signedAt)
	require.NotEqual(t, webhook.ResultSuccess, a.Result)
	require.EqualValues(t, 1, dialled.Load())
	require.ErrorIs(t, checker(evilNames).CheckHost(t.Context(), "mixed.example"), fault.ErrInvalidField)
}

func TestSender_RedirectedToThisMachine_StaysAway(t *testing.T) {
	t.Parallel()
	_, port := canary(t)
	ca := newAuthority(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"http://127.0.0.1:" + port, "https://127.0.0.1:" + port,
			"//localhost:" + port + "/", "https://[::1]:" + port} {
			target := ca.ServeHTTPS(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.Header().Set("Refresh", "0; url="+location)
				w.Header().Set("Alt-Svc", `h2="127.0.0.1:`+port+`"; ma=86400`)
				w.WriteHeader(status)
			})
			s := newSender(t, trusting(ca))
			for range 2 {
				a := s.Post(t.Context(), postTo(target), signedAt)
				require.Equal(t, webhook.ResultRedirect, a.Result)
				require.Equal(t, status, a.ResponseStatus)
			}
		}
	}
}

func TestSender_WithAProxyInTheEnvironment_GoesPastIt(t *testing.T) {
	r, _ := canary(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://"+r.Address)
	}
	t.Setenv("NO_PROXY", "")
	ca := newAuthority(t)
	target := ca.ServeHTTPS(t, func(http.ResponseWriter, *http.Request) {})
	u, err := url.Parse(target)
	require.NoError(t, err)
	s := newSender(t, func(c *Config) {
		c.TLS = ca.ClientTLSConfig()
		c.Resolver = names{"hooks.example": {"127.0.0.1"}}.resolver()
	})
	// by a name: proxies are not asked for 127.0.0.1
	a := s.Post(t.Context(), postTo("https://hooks.example:"+u.Port()), signedAt)
	require.Equal(t, webhook.ResultSuccess, a.Result, a.Detail)
	a = guarded(t, evilNames).Post(t.Context(), postTo("https://loopback.example/"), signedAt)
	require.Equal(t, webhook.ResultAddressBlocked, a.Result, a.Detail)
}

func TestTargetCheck_OfAddresses_AgreesWithTheDialer(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	s := newSender(t, func(c *Config) {
		c.AllowInsecure = false
		c.Resolver = names{}.resolver()
		c.AddressCheck = func(network, address string, raw syscall.RawConn) error {
			err := addressCheck(public)(network, address, raw)
			reached.Store(err == nil)
			if err == nil {
				err = syscall.ECONNREFUSED // the test opens no connection to the internet
			}
			return err
		}
	})
	check := checker(names{})
	open := []string{"8.8.8.8", "93.184.215.14", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.0",
		"11.0.0.0", "168.63.129.17", "223.255.255.255",
		"[2606:4700::1111]", "[2a00:1450:4001:80b::200e]", "[::ffff:8.8.8.8]", "[::ffff:808:808]", "８.８.８.８", "1.1.1.1"}
	for _, host := range append(open, forbiddenHosts...) {
		u, err := url.Parse("https://" + host)
		if err != nil {
			continue
		}
		if _, err := netip.ParseAddr(asDialled(u.Hostname())); err != nil || strings.HasSuffix(asASCII(u.Hostname()), ".") {
			continue
		}
		reached.Store(false)
		_ = s.Post(t.Context(), postTo(u.String()), signedAt)
		require.Equal(t, reached.Load(), check.CheckHost(t.Context(), u.Hostname()) == nil, host)
	}
	for _, host := range open {
		require.NoError(t, check.CheckHost(t.Context(), strings.Trim(host, "[]")), host)
	}
}

func TestTargetCheck_OfNames(t *testing.T) {
	t.Parallel()
	check := checker(names{"hooks.example": {"93.184.215.14 2606:4700::1111"}, "bücher.example": nil,
		"xn--bcher-kva.example": {"93.184.215.14"}, "failing.example": {failing}})
	for _, host := range []string{"hooks.example", "HOOKS.example.", "bücher.example", "nowhere.example",
		"failing.example", "a_b.example", "1and1.example", "127.0.0.1.example", "0x7f.example"} {
		require.NoError(t, check.CheckHost(t.Context(), host), host)
	}
}

func TestInsecureSender_StaysAwayFromTheLink(t *testing.T) {
	t.Parallel()
	s, check := newSender(t, nil), NewTargetCheck(true)
	for _, host := range []string{"169.254.169.254", "[fe80::1%25lo]", "[::ffff:169.254.169.254]", "224.0.0.1",
		"[fd00:ec2::254]"} {
		a := s.Post(t.Context(), postTo("http://"+host+"/latest/meta-data/"), signedAt)
		require.Equal(t, webhook.ResultAddressBlocked, a.Result, "%s: %s", host, a.Detail)
		u, err := url.Parse("http://" + host)
		require.NoError(t, err)
		require.ErrorIs(t, check.CheckHost(t.Context(), u.Hostname()), fault.ErrInvalidField, host)
	}
	for _, host := range []string{"127.0.0.1", "::1", "10.0.0.1", "localhost", "receiver", "2130706433"} {
		require.NoError(t, check.CheckHost(t.Context(), host), host)
	}
}
