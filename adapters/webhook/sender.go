// Package webhook sends deliveries by POST to the endpoints that partners chose; no other package dials an address
// that came from outside. Each address is checked when a socket connects, after the name was resolved, so a name
// that changes its address cannot lead to a private network (SSRF).
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports/platform/sockets"
	webhookports "partnerdeposits/ports/webhooks"
)

// Bounds of a response. Larger headers fail the attempt. At most maxBody bytes of the body are read, for at most
// bodyTimeout after the status is known.
const (
	maxHeaders  = 32 << 10
	maxBody     = 16 << 10
	bodyTimeout = time.Second
)

type Config struct {
	Timeout             time.Duration
	EndpointConcurrency int // How many idle connections to a host are kept.
	// Whether http, private addresses and every port are allowed, for development.
	AllowInsecure bool
	BlockedPorts  []uint16
	EventIDHeader bool
	UserAgent     string
	// NoSocket is called for each POST for which this machine had no file descriptor, port or memory left; nil: it
	// is not called.
	NoSocket func(error)
	// TLS is added to the default TLS settings (TLS 1.2 and above, the system's roots); nil outside tests.
	TLS *tls.Config
	// Resolver replaces the system's name resolver; nil outside tests.
	Resolver *net.Resolver
	// AddressCheck replaces the check of the dialled address; nil outside tests.
	AddressCheck func(network, address string, c syscall.RawConn) error
}

type Sender struct {
	transport   *http.Transport
	templates   templates
	timeout     time.Duration
	bodyTimeout time.Duration
	eventID     bool
	noSocket    func(error)
}

func NewSender(c Config) *Sender {
	// Go reads the system's root certificates once: do it now, since file descriptors may be used up later.
	_, _ = x509.SystemCertPool()
	d := newDialer(c)
	if c.NoSocket == nil {
		c.NoSocket = func(error) {}
	}
	return &Sender{
		noSocket: c.NoSocket,
		timeout:  c.Timeout, bodyTimeout: bodyTimeout, eventID: c.EventIDHeader,
		templates: templates{rules: webhook.TargetRules{Insecure: c.AllowInsecure, BlockedPorts: c.BlockedPorts},
			userAgent: []string{c.UserAgent}},
		transport: &http.Transport{
			// No proxy: with a proxy, its address would be checked before a connection, and not the endpoint's.
			Proxy:                  nil,
			DialContext:            d.dial,
			DialTLSContext:         d.dialTLS,
			ForceAttemptHTTP2:      true,
			HTTP2:                  http2Bounds(c.Timeout),
			DisableCompression:     true, // Do not unpack compressed responses: a kilobyte may become a gigabyte.
			MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConns:           2048,
			MaxIdleConnsPerHost:    max(c.EndpointConcurrency, 2),
			IdleConnTimeout:        60 * time.Second,
			WriteBufferSize:        2 << 10,
			ReadBufferSize:         2 << 10,
		},
	}
}

// http2Bounds returns settings of HTTP/2 that limit the memory that an endpoint can fill (by default 4 MiB for
// each request), and detect connections that died without being closed.
func http2Bounds(timeout time.Duration) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxReceiveBufferPerStream:     4 * maxBody,
		MaxReceiveBufferPerConnection: 1 << 20,
		SendPingTimeout:               timeout,
		PingTimeout:                   timeout / 2,
		WriteByteTimeout:              timeout,
	}
}

func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Post makes an attempt to send a delivery and returns its result. The transport may read d.Body for a moment
// after Post returned, so the body must not change.
func (s *Sender) Post(ctx context.Context, d *webhookports.Delivery, signedAt time.Time) webhook.Attempt {
	started := time.Now()
	result := webhook.Attempt{StartedAt: started.UTC()}
	template, refusal := s.templates.of(d.URL)
	if refusal != "" {
		result.Result, result.Detail = webhook.ResultAddressBlocked, refusal
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	a := &attemptContext{Context: ctx}
	response, err := s.transport.RoundTrip(a.request(template, d, signedAt, s.eventID))
	result.Duration = time.Since(started)
	if err != nil {
		result.Result, result.Detail = explain(err, a, s.timeout)
		stage := a.stage.Load()
		result.Unconnected = result.Result == webhook.ResultTimeout && begun < stage && stage < connected
		result.NoRoute = sockets.IsNoRouteError(err)
		if result.Lacked = sockets.ExhaustedResource(err); result.Lacked != "" {
			// A machine that ran out of descriptors or ports gets some back when idle connections are closed.
			s.transport.CloseIdleConnections()
			s.noSocket(err)
		}
		return result
	}
	defer func() { _ = response.Body.Close() }()
	result.Result, result.Detail = judge(response.StatusCode)
	if result.Result != webhook.ResultConnectFailed {
		result.ResponseStatus = response.StatusCode
	}
	result.RetryAfter = retryAfter(response, started.Add(result.Duration))
	// The body of a response with status 101 is the connection itself, which ignores the end of ctx.
	if response.StatusCode != http.StatusSwitchingProtocols {
		result.Snippet = s.readSnippet(response.Body, cancel)
	}
	return result
}

// attemptContext is the context of a POST, with the parts of its request.
type attemptContext struct {
	context.Context
	stage  atomic.Int32
	dials  atomic.Int32
	body   bytes.Reader
	values [6]string
}

type attemptKey struct{}

// Value returns the attempt itself for attemptKey, so that the code that makes its connection finds it, and
// otherwise the value of the parent context.
func (a *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return a
	}
	return a.Context.Value(key)
}

func attemptOf(ctx context.Context) *attemptContext {
	if a, ok := ctx.Value(attemptKey{}).(*attemptContext); ok {
		return a
	}
	return &attemptContext{Context: ctx}
}

var contentType = []string{"application/json"}

// notSent is the value of a header that net/http reads from the request and does not send.
var notSent = []string{}

func (a *attemptContext) request(template *http.Request, d *webhookports.Delivery, signedAt time.Time,
	eventID bool) *http.Request {
	request := template.WithContext(a)
	timestamp, signature := webhook.Sign(d.Secret, d.Body, signedAt)
	a.values = [...]string{signature, timestamp, string(d.Event), "", "", ""}
	h := make(http.Header, 8)
	h["Content-Type"] = contentType
	h["User-Agent"] = template.Header["User-Agent"]
	h[webhook.HeaderSignature] = a.values[0:1:1]
	h[webhook.HeaderTimestamp] = a.values[1:2:2]
	h[webhook.HeaderEvent] = a.values[2:3:3]
	if eventID {
		a.values[3] = id.Event.Of(d.EventID)
		h[webhook.HeaderEventID] = a.values[3:4:4]
	}
	if d.Standard {
		a.values[4] = id.Event.Of(d.EventID)
		a.values[5] = webhook.SignStandardWebhooks(d.Secret, a.values[4], timestamp, d.Body)
		h[webhook.HeaderStandardID] = a.values[4:5:5]
		h[webhook.HeaderStandardTimestamp] = a.values[1:2:2]
		h[webhook.HeaderStandardSignature] = a.values[5:6:6]
	}
	// With this header net/http repeats a request whose idle connection turned out to be closed.
	h["Idempotency-Key"] = notSent
	request.Header = h
	a.body.Reset(d.Body)
	request.ContentLength = int64(len(d.Body))
	request.Body = io.NopCloser(&a.body)
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(d.Body)), nil }
	return request
}

const maxTemplates = 2048

type templates struct {
	rules     webhook.TargetRules
	userAgent []string

	mu    sync.RWMutex
	byURL map[string]*http.Request
}

// of returns the cached HTTP request for a URL, or the reason why the URL is refused.
func (t *templates) of(raw string) (template *http.Request, refusal string) {
	t.mu.RLock()
	template = t.byURL[raw]
	t.mu.RUnlock()
	if template != nil {
		return template, ""
	}
	template, err := http.NewRequest(http.MethodPost, raw, nil)
	switch {
	case err != nil || template.URL.Hostname() == "":
		return nil, "The URL cannot be read."
	case template.URL.Scheme != "https" && (template.URL.Scheme != "http" || !t.rules.Insecure):
		return nil, "The URL is not https."
	}
	if mistake := t.rules.FindPortMistake(template.URL); mistake != "" {
		return nil, "The URL " + mistake + "."
	}
	template.Header["User-Agent"] = t.userAgent
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byURL == nil || len(t.byURL) >= maxTemplates {
		t.byURL = make(map[string]*http.Request)
	}
	t.byURL[raw] = template
	return template, ""
}
