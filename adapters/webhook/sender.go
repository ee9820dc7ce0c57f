// Package webhook POSTs deliveries to the endpoints that partners chose. It is the one place that dials an address from
// outside, so the guard against private addresses sits in its dialer: whatever a name resolves to, and whenever it
// changes, the address is checked when the socket is connected.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Bounds of a response. Headers beyond theirs fail the attempt; of a body no more than maxBody is read, and for no
// longer than bodyPatience once the status is known.
const (
	maxHeaders   = 64 << 10
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
	timeout   time.Duration
	insecure  bool
	userAgent string
}

// NewSender makes a sender with a connection pool of its own.
func NewSender(c Config) *Sender {
	control := c.Guard
	if control == nil && !c.AllowInsecure {
		control = publicOnly
	}
	resolver := c.Resolver
	if resolver == nil {
		resolver = &net.Resolver{PreferGo: true} // the C library reads 2130706433 and 0x7f.1 as addresses
	}
	dialer := &net.Dialer{Timeout: c.Timeout, KeepAlive: 30 * time.Second, Control: control, Resolver: resolver}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLS != nil {
		config = c.TLS.Clone()
		config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	}
	return &Sender{
		timeout: c.Timeout, insecure: c.AllowInsecure, userAgent: c.UserAgent,
		transport: &http.Transport{
			Proxy:                  nil, // the guard would see the proxy's address only
			DialContext:            dialer.DialContext,
			TLSClientConfig:        config,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // a kilobyte on the wire may be a gigabyte unpacked
			MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConns:           2048,
			MaxIdleConnsPerHost:    max(c.EndpointConcurrency, 2),
			IdleConnTimeout:        60 * time.Second,
			TLSHandshakeTimeout:    c.Timeout,
			WriteBufferSize:        2 << 10,
			ReadBufferSize:         2 << 10,
		},
	}
}

// Close drops the kept connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Post implements ports.Sender.
func (s *Sender) Post(ctx context.Context, p ports.Post) webhook.Attempt {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	attempt := webhook.Attempt{StartedAt: time.Now().UTC()}
	stage := &progress{}
	request, err := s.request(httptrace.WithClientTrace(ctx, stage.trace()), p)
	if err != nil {
		attempt.Result, attempt.Detail = webhook.ResultBlocked, err.Error()
		return attempt
	}
	response, err := s.transport.RoundTrip(request)
	attempt.Duration = time.Since(attempt.StartedAt)
	if err != nil {
		attempt.Result, attempt.Detail = explain(ctx, err, stage, s.timeout)
		return attempt
	}
	attempt.ResponseStatus = response.StatusCode
	attempt.Result, attempt.Detail = judge(response.StatusCode)
	attempt.RetryAfter = retryAfter(response, attempt.StartedAt)
	attempt.Snippet = readSnippet(response.Body, cancel)
	return attempt
}

type refusal string

func (r refusal) Error() string { return string(r) }

func (s *Sender) request(ctx context.Context, p ports.Post) (*http.Request, error) {
	target, err := url.Parse(p.URL)
	if err != nil || target.Host == "" {
		return nil, refusal("The URL cannot be read.")
	}
	if target.Scheme != "https" && !s.insecure {
		return nil, refusal("The URL is not https.")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return nil, refusal("The URL cannot be read.")
	}
	h := request.Header
	h["Content-Type"] = []string{"application/json"}
	h["User-Agent"] = []string{s.userAgent}
	h[webhook.HeaderSignature] = []string{p.Signature}
	h[webhook.HeaderTimestamp] = []string{p.Timestamp}
	h[webhook.HeaderEvent] = []string{string(p.Event)}
	if p.EventID != "" {
		h[webhook.HeaderEventID] = []string{p.EventID}
	}
	// Not sent; it tells the transport that a request on a kept connection that turns out to be closed may go out again.
	h["Idempotency-Key"] = []string{}
	return request, nil
}

func judge(status int) (webhook.Result, string) {
	switch {
	case status >= 200 && status < 300:
		return webhook.ResultSuccess, ""
	case status >= 300 && status < 400:
		return webhook.ResultRedirect, "The endpoint answered with a redirect; redirects are not followed. Register the final URL."
	default:
		return webhook.ResultNon2xx, strings.TrimSpace("The endpoint answered " + statusLine(status) + ".")
	}
}

// readSnippet reads a little of the body, so that a developer sees what the endpoint said and a well-behaved connection
// can be used again. The status is known by now: nothing that happens here changes the result.
func readSnippet(body io.ReadCloser, cancel context.CancelFunc) string {
	patience := time.AfterFunc(bodyPatience, cancel)
	defer patience.Stop()
	defer func() { _ = body.Close() }()
	read, _ := io.ReadAll(io.LimitReader(body, maxBody))
	if len(read) > webhook.MaxSnippet {
		read = read[:webhook.MaxSnippet]
	}
	return printable(read)
}

// printable makes of any bytes a text that every store and page takes: valid UTF-8 without NUL, MaxSnippet bytes at most.
func printable(b []byte) string {
	s := strings.ToValidUTF8(strings.ReplaceAll(string(b), "\x00", "\uFFFD"), "\uFFFD")
	for len(s) > webhook.MaxSnippet {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
