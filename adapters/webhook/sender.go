// Package webhook POSTs deliveries to the endpoints that partners chose. It is the one place that dials an address from
// outside, so the guard against private addresses sits in its dialer: whatever a name resolves to, and whenever it
// changes, the address is checked when the socket is connected.
package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"syscall"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Bounds of a response. Headers beyond theirs fail the attempt; of a body no more than maxBody is read, and for no
// longer than bodyPatience once the status is known.
const (
	maxHeaders   = 32 << 10
	maxBody      = 16 << 10
	bodyPatience = time.Second
)

// Config shapes a Sender.
type Config struct {
	Timeout             time.Duration // of an attempt, in all
	EndpointConcurrency int           // connections kept to one host
	AllowInsecure       bool          // http and private addresses, for development
	UserAgent           string
	// TLS adds to the defaults (TLS 1.2 and above, the system's roots); nil outside tests.
	TLS *tls.Config
	// Resolver replaces the system's; nil outside tests.
	Resolver *net.Resolver
	// Guard replaces the check of the address that is dialled; nil outside tests.
	Guard func(network, address string, c syscall.RawConn) error
}

// Sender implements ports.Sender.
type Sender struct {
	transport *http.Transport
	templates templates
	timeout   time.Duration
	patience  time.Duration
}

// NewSender makes a sender with a connection pool of its own.
func NewSender(c Config) *Sender {
	d := newDialer(c)
	return &Sender{
		timeout: c.Timeout, patience: bodyPatience,
		templates: templates{insecure: c.AllowInsecure, userAgent: []string{c.UserAgent}},
		transport: &http.Transport{
			Proxy:                  nil, // the guard would see the proxy's address only
			DialContext:            d.dial,
			DialTLSContext:         d.dialTLS,
			ForceAttemptHTTP2:      true,
			HTTP2:                  http2Bounds(c.Timeout),
			DisableCompression:     true, // a kilobyte on the wire may be a gigabyte unpacked
			MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConns:           2048,
			MaxIdleConnsPerHost:    max(c.EndpointConcurrency, 2),
			IdleConnTimeout:        60 * time.Second,
			WriteBufferSize:        2 << 10,
			ReadBufferSize:         2 << 10,
		},
	}
}

// http2Bounds keeps endpoints from filling our memory (the default is 4 MiB for every request), and finds connections
// that died silently: unlike HTTP/1.1, a request that times out does not end its connection, and the next would take it.
func http2Bounds(timeout time.Duration) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxReceiveBufferPerStream:     4 * maxBody,
		MaxReceiveBufferPerConnection: 1 << 20,
		SendPingTimeout:               timeout,
		PingTimeout:                   timeout / 2,
		WriteByteTimeout:              timeout,
	}
}

// Close drops the kept connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Post implements ports.Sender. The transport may read p.Body a moment longer than Post takes: nobody may change it.
func (s *Sender) Post(ctx context.Context, p ports.Post) webhook.Attempt {
	started := time.Now()
	result := webhook.Attempt{StartedAt: started.UTC()}
	template, refusal := s.templates.of(p.URL)
	if refusal != "" {
		result.Result, result.Detail = webhook.ResultBlocked, refusal
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	a := &attempt{Context: ctx}
	response, err := s.transport.RoundTrip(a.request(template, p))
	result.Duration = time.Since(started)
	if err != nil {
		result.Result, result.Detail = explain(err, a, s.timeout)
		return result
	}
	defer func() { _ = response.Body.Close() }()
	result.Result, result.Detail = judge(response.StatusCode)
	if result.Result != webhook.ResultConnect {
		result.ResponseStatus = response.StatusCode
	}
	result.RetryAfter = retryAfter(response, started.Add(result.Duration))
	if response.StatusCode != http.StatusSwitchingProtocols { // its body is the bare connection, which heeds no context
		result.Snippet = s.readSnippet(response.Body, cancel)
	}
	return result
}
