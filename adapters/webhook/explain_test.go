package webhook

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/hostiletest"
)

// hasty is the timeout of attempts that must time out.
const hasty = time.Second

func TestPost_Failed_NamesTheCause(t *testing.T) {
	t.Parallel()
	const (
		closed    = "The connection was closed before a status line came."
		noAnswer  = "No answer within 1s: the connection stood, but no status line with its headers came."
		tlsFailed = "The TLS handshake failed. TLS 1.2 or above is needed, and no certificate of ours."
	)
	ca, stranger := newAuthority(t), newAuthority(t)
	plain := func(handle func(net.Conn)) func(testing.TB) string {
		return func(t testing.TB) string { return "http://" + serve(t, handle).Address }
	}
	raw := func(handle func(net.Conn)) func(testing.TB) string {
		return func(t testing.TB) string { return "https://" + serve(t, handle).Address }
	}
	secured := func(config *tls.Config, handle func(net.Conn)) func(testing.TB) string {
		return func(t testing.TB) string { return "https://" + serveTLS(t, config, handle).Address }
	}
	certified := func(change func(*x509.Certificate)) func(testing.TB) string {
		return secured(ca.IssueServerConfig(t, change), answering(ok, nil))
	}
	at := func(url string) func(testing.TB) string { return func(testing.TB) string { return url } }
	after := func(answer string, then func(net.Conn)) func(testing.TB) string {
		return plain(answering(answer, then))
	}
	old, wantsCertificate := ca.IssueServerConfig(t, nil), ca.IssueServerConfig(t, nil)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	wantsCertificate.ClientAuth = tls.RequireAnyClientCert

	type failure struct {
		url    func(testing.TB) string
		hasty  bool
		result webhook.AttemptResult
		detail string
	}
	cases := map[string]failure{
		"nobody listens": {url: nobody, result: webhook.ResultConnectFailed, detail: "The connection was refused."},
		"impossible port": {url: at("http://127.0.0.1:99999"), result: webhook.ResultAddressBlocked,
			detail: "The URL has the port 99999, which is not between 1 and 65535."},
		"closed at once": {url: plain(func(net.Conn) {}), result: webhook.ResultConnectFailed, detail: closed},
		"reset at once":  {url: plain(hostiletest.ResetConnection), result: webhook.ResultConnectFailed, detail: closed},
		"empty answer": {url: plain(func(c net.Conn) { _, _, _ = request(bufio.NewReader(c)) }),
			result: webhook.ResultConnectFailed, detail: closed},
		"reset instead of an answer": {url: plain(func(c net.Conn) {
			_, _, _ = request(bufio.NewReader(c))
			hostiletest.ResetConnection(c)
		}), result: webhook.ResultConnectFailed, detail: closed},
		"closed in the headers": {url: after("HTTP/1.1 200 OK\r\nX: y\r\n", func(net.Conn) {}),
			result: webhook.ResultConnectFailed, detail: closed},
		"no answer": {url: plain(hostiletest.SilentHandler), hasty: true, result: webhook.ResultTimeout, detail: noAnswer},
		"headers one byte at a time": {url: after("HTTP/1.1 200 OK\r\nX: ", hostiletest.TrickleHandler("x")), hasty: true,
			result: webhook.ResultTimeout, detail: noAnswer},
		"1xx now and then": {url: after("", hostiletest.TrickleHandler("HTTP/1.1 102 Processing\r\n\r\n")), hasty: true,
			result: webhook.ResultTimeout, detail: noAnswer},
		"unknown name": {url: at("https://nowhere.example/"), result: webhook.ResultDNSFailed,
			detail: "The host name does not resolve."},
		"name without addresses": {url: at("https://empty.example/"), result: webhook.ResultDNSFailed,
			detail: "The host name does not resolve."},
		"name server fails": {url: at("https://failing.example/"), result: webhook.ResultDNSFailed,
			detail: "The host name does not resolve: its name servers failed or did not answer."},
		"impossible name": {url: at("https://" + strings.Repeat("x", 64) + ".example/"),
			result: webhook.ResultDNSFailed, detail: "The host name does not resolve."},
		"closed in the handshake": {url: raw(func(net.Conn) {}), result: webhook.ResultTLSFailed,
			detail: "The connection was closed during the TLS handshake."},
		"reset in the handshake": {url: raw(func(c net.Conn) {
			_, _ = c.Read(make([]byte, 9))
			hostiletest.ResetConnection(c)
		}),
			result: webhook.ResultTLSFailed, detail: "The connection was closed during the TLS handshake."},
		"plain HTTP on the TLS port": {
			url: raw(func(c net.Conn) {
				_, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n")
				hostiletest.SilentHandler(c)
			}),
			result: webhook.ResultTLSFailed, detail: "The endpoint does not speak TLS on this port."},
		"noise on the TLS port": {url: raw(func(c net.Conn) {
			_, _ = c.Write([]byte{22, 3, 3, 0, 4, 99, 0, 0, 0})
			hostiletest.SilentHandler(c)
		}), result: webhook.ResultTLSFailed, detail: tlsFailed},
		"no end to the handshake": {url: raw(hostiletest.SilentHandler), hasty: true, result: webhook.ResultTimeout,
			detail: "No answer within 1s: the TLS handshake did not finish."},
		"TLS 1.1 only": {url: secured(old, answering(ok, nil)), result: webhook.ResultTLSFailed, detail: tlsFailed},
		"wants a certificate": {url: secured(wantsCertificate, answering(ok, nil)), result: webhook.ResultTLSFailed,
			detail: tlsFailed},
		"unknown authority": {url: secured(stranger.IssueServerConfig(t, nil), answering(ok, nil)),
			result: webhook.ResultTLSFailed,
			detail: "The certificate is signed by an authority that is not trusted. Is the intermediate certificate missing?"},
		"certificate of another host": {url: certified(func(c *x509.Certificate) { c.IPAddresses = nil }),
			result: webhook.ResultTLSFailed, detail: "The certificate is not for this host name."},
		"certificate that has expired": {url: certified(func(c *x509.Certificate) {
			c.NotAfter = time.Now().Add(-time.Minute)
		}), result: webhook.ResultTLSFailed, detail: "The certificate has expired or is not yet valid."},
		"certificate of tomorrow": {url: certified(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }),
			result: webhook.ResultTLSFailed, detail: "The certificate has expired or is not yet valid."},
		"certificate of a client": {url: certified(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{
				x509.ExtKeyUsageClientAuth}
		}), result: webhook.ResultTLSFailed, detail: "The certificate is not valid for a server."},
	}
	for name, answer := range map[string]func(net.Conn){
		"closed in the status line": answering("HTTP/1.1 20", func(net.Conn) {}),
		"not HTTP":                  answering("220 smtp.example ESMTP\r\n", hostiletest.SilentHandler),
		"only NUL":                  answering("\x00\x00\x00\x00\r\n\r\n", hostiletest.SilentHandler),
		"empty lines":               answering("\r\n\r\n", hostiletest.SilentHandler),
		"no status":                 answering("HTTP/1.1\r\n\r\n", hostiletest.SilentHandler),
		"short status":              answering("HTTP/1.1 20 OK\r\n\r\n", hostiletest.SilentHandler),
		"status in words":           answering("HTTP/1.1 two OK\r\n\r\n", hostiletest.SilentHandler),
		"status 000":                answering("HTTP/1.1 000 OK\r\n\r\n", hostiletest.SilentHandler),
		"status 099":                answering("HTTP/1.1 099 OK\r\n\r\n", hostiletest.SilentHandler),
		"negative status":           answering("HTTP/1.1 -20 OK\r\n\r\n", hostiletest.SilentHandler),
		"unknown version":           answering("HTTP/x 200 OK\r\n\r\n", hostiletest.SilentHandler),
		"header without a colon":    answering("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", hostiletest.SilentHandler),
		"two lengths":               answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", hostiletest.SilentHandler),
	} {
		cases[name] = failure{url: plain(answer), result: webhook.ResultConnectFailed, detail: unreadable}
	}
	for name, answer := range map[string]func(net.Conn){
		"endless status line": answering("HTTP/1.1 200 ", hostiletest.EndlessHandler("O")),
		"endless headers":     answering("HTTP/1.1 200 OK\r\n", hostiletest.EndlessHandler("X-Header: value\r\n")),
		"one endless header":  answering("HTTP/1.1 200 OK\r\nX: ", hostiletest.EndlessHandler("x")),
		"endless 1xx":         answering("", hostiletest.EndlessHandler("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")),
	} {
		cases[name] = failure{url: plain(answer), result: webhook.ResultNon2xx, detail: largeHeaders}
	}
	resolver := names{"empty.example": {""}, "failing.example": {failing}}.resolver()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, func(config *Config) {
				config.TLS = ca.ClientTLSConfig()
				config.Resolver = resolver
				if c.hasty {
					config.Timeout = hasty
				}
			})
			target := c.url(t)
			a := s.Post(t.Context(), postTo(target), signedAt)
			require.Equal(t, c.result, a.Result, a.Detail)
			require.Equal(t, c.detail, a.Detail)
			require.Zero(t, a.ResponseStatus)
			require.Empty(t, a.Snippet)
			u, err := url.Parse(target)
			require.NoError(t, err)
			require.NotContains(t, a.Detail, u.Host)
		})
	}
}

func nobody(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

func TestPost_WithoutAnswerOfTheNameServer_SaysSo(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	t.Cleanup(func() { close(hung) })
	s := newSender(t, func(c *Config) {
		c.Timeout = hasty
		c.Resolver = &net.Resolver{PreferGo: true,
			Dial: (&net.Dialer{ControlContext: nil, Control: func(string, string, syscall.RawConn) error {
				<-hung
				return io.EOF
			}}).DialContext}
	})
	a := s.Post(t.Context(), postTo("https://hooks.example/"), signedAt)
	require.Equal(t, webhook.ResultTimeout, a.Result)
	require.Equal(t, "No answer within 1s: the host name did not resolve in time.", a.Detail)
}

func TestPost_WithoutConnection_SaysSo(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	t.Cleanup(func() { close(hung) })
	r := serve(t, answering(ok, nil))
	s := newSender(t, func(c *Config) {
		c.Timeout = hasty
		c.AddressCheck = func(string, string, syscall.RawConn) error {
			<-hung
			return io.EOF
		}
	})
	a := s.Post(t.Context(), postTo("http://"+r.Address), signedAt)
	require.Equal(t, webhook.ResultTimeout, a.Result)
	require.Equal(t, "No answer within 1s: the connection was not accepted.", a.Detail)
}

func h2Header(fields ...string) []byte {
	var b strings.Builder
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return []byte(b.String())
}

func TestPost_OverHTTP2Refused_NamesTheCause(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	headers := func(f *http2.Framer, stream uint32, end bool, fields ...string) {
		_ = f.WriteHeaders(
			http2.HeadersFrameParam{StreamID: stream, BlockFragment: h2Header(fields...), EndHeaders: true, EndStream: end})
	}
	cases := map[string]struct {
		settings []http2.Setting
		answer   func(f *http2.Framer, stream uint32)
		hasty    bool
		result   webhook.AttemptResult
		or       webhook.AttemptResult // where the time of a frame decides
	}{
		"refuses every stream": {answer: func(f *http2.Framer, s uint32) {
			_ = f.WriteRSTStream(s, http2.ErrCodeRefusedStream)
		}, hasty: true, result: webhook.ResultTimeout},
		"resets every stream": {answer: func(f *http2.Framer, s uint32) {
			_ = f.WriteRSTStream(s, http2.ErrCodeInternal)
		}, result: webhook.ResultConnectFailed},
		"goes away with every request": {answer: func(f *http2.Framer, _ uint32) {
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
		}, result: webhook.ResultConnectFailed},
		"goes away in anger": {answer: func(f *http2.Framer, s uint32) {
			_ = f.WriteGoAway(s, http2.ErrCodeEnhanceYourCalm, nil)
		}, hasty: true, result: webhook.ResultTimeout},
		"allows no stream": {settings: []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 0}},
			answer: func(*http2.Framer, uint32) {}, hasty: true,
			// the transport dials again if the setting comes before its request
			result: webhook.ResultTimeout, or: webhook.ResultConnectFailed},
		"allows no body": {settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}},
			answer: func(*http2.Framer, uint32) {}, hasty: true, result: webhook.ResultTimeout},
		"does not answer": {answer: func(*http2.Framer, uint32) {}, hasty: true, result: webhook.ResultTimeout},
		"big headers": {answer: func(f *http2.Framer, s uint32) {
			headers(f, s, true, ":status", "200", "x-bomb", strings.Repeat("x", 10<<10), "x-bomb", strings.Repeat("y", 3<<10))
			_ = f.WriteRSTStream(s, http2.ErrCodeInternal)
		}, result: webhook.ResultSuccess},
		"a bomb of headers": {answer: func(f *http2.Framer, s uint32) {
			// The same entry of the table repeated: a byte on the wire for each header.
			block := h2Header(":status", "200", "x-bomb", strings.Repeat("x", 3<<10))
			again := h2Header("x-bomb", "y")[0:0]
			for range 10 << 10 {
				again = append(again, 0x80|62)
			}
			_ = f.WriteHeaders(
				http2.HeadersFrameParam{StreamID: s, BlockFragment: append(block, again...), EndHeaders: true, EndStream: true})
		}, result: webhook.ResultNon2xx},
		"endless continuation": {answer: func(f *http2.Framer, s uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: h2Header(":status", "200"), EndStream: true})
			for f.WriteContinuation(s, false, h2Header("x", strings.Repeat("x", 4<<10))) == nil {
			}
		}, result: webhook.ResultConnectFailed},
		"endless 1xx": {answer: func(f *http2.Framer, s uint32) {
			for f.WriteHeaders(http2.HeadersFrameParam{StreamID: s,
				BlockFragment: h2Header(":status", "103", "link", strings.Repeat("x", 4<<10)), EndHeaders: true}) == nil {
			}
		}, result: webhook.ResultConnectFailed},
		"a body without a status": {answer: func(f *http2.Framer, s uint32) { _ = f.WriteData(s, true, []byte("x")) },
			result: webhook.ResultConnectFailed},
		"headers without a status": {answer: func(f *http2.Framer, s uint32) { headers(f, s, true, "x", "y") },
			result: webhook.ResultConnectFailed},
		"redirect": {answer: func(f *http2.Framer, s uint32) {
			headers(f, s, true, ":status", "308", "location", "https://127.0.0.1/")
		}, result: webhook.ResultRedirect},
		"2xx, then reset": {answer: func(f *http2.Framer, s uint32) {
			headers(f, s, false, ":status", "200")
			_ = f.WriteRSTStream(s, http2.ErrCodeInternal)
		}, result: webhook.ResultSuccess},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, url := hostiletest.ServeHTTP2(t, ca, c.settings, c.answer)
			s := newSender(t, func(config *Config) {
				config.TLS = ca.ClientTLSConfig()
				if c.hasty {
					config.Timeout = hasty
				}
			})
			a := s.Post(t.Context(), postTo(url), signedAt)
			t.Log(a.Result, a.Detail, r.Conns.Load(), "connections")
			if a.Result != c.or || c.or == "" {
				require.Equal(t, c.result, a.Result, a.Detail)
			}
			require.LessOrEqual(t, r.Conns.Load(), int32(maxDials), "the attempt went round in circles")
		})
	}
}

// A connection dies without a sign when a firewall forgets the connection.
func TestPost_OverHTTP2_LeavesADeadConnection(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	var dead atomic.Pointer[http2.Framer] // the first connection answers neither requests nor pings
	r, target := hostiletest.ServeHTTP2(t, ca, nil, func(f *http2.Framer, s uint32) {
		if !dead.CompareAndSwap(nil, f) && f != dead.Load() {
			_ = f.WriteHeaders(
				http2.HeadersFrameParam{StreamID: s, BlockFragment: h2Header(":status", "204"), EndHeaders: true, EndStream: true})
		}
	})
	s := newSender(t, func(c *Config) {
		c.TLS = ca.ClientTLSConfig()
		c.Timeout = hasty
	})
	require.Equal(t, webhook.ResultTimeout, s.Post(t.Context(), postTo(target), signedAt).Result)
	require.Eventually(t, func() bool { return s.Post(t.Context(), postTo(target), signedAt).OK() }, patient,
		time.Millisecond)
	require.GreaterOrEqual(t, r.Conns.Load(), int32(2))
}
