package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"partnerdeposits/core/webhook"
)

// progress remembers how far a request came, to name the step that failed. Its hooks may run after the attempt is over.
type progress struct {
	resolving, dialing, shaking, sent atomic.Bool
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { p.resolving.Store(true) },
		DNSDone:           func(httptrace.DNSDoneInfo) { p.resolving.Store(false) },
		ConnectStart:      func(string, string) { p.dialing.Store(true) },
		GotConn:           func(httptrace.GotConnInfo) { p.dialing.Store(false) },
		TLSHandshakeStart: func() { p.shaking.Store(true) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { p.shaking.Store(false) },
		WroteRequest:      func(httptrace.WroteRequestInfo) { p.sent.Store(true) },
	}
}

// explain names the cause of a failed attempt and says it in words that a developer can act on. Addresses of ours and
// texts from below never show.
func explain(ctx context.Context, err error, p *progress, timeout time.Duration) (webhook.Result, string) {
	var dns *net.DNSError
	switch {
	case errors.Is(err, errNotPublic):
		return webhook.ResultBlocked, "The host leads to an address that is not public."
	case errors.As(err, &dns) && !(dns.IsTimeout && ctx.Err() != nil):
		return webhook.ResultDNS, "The host name does not resolve."
	case ctx.Err() != nil, isTimeout(err):
		return webhook.ResultTimeout, "No answer within " + timeout.String() + ": " + p.waitingFor() + "."
	case isTLS(err):
		return webhook.ResultTLS, tlsDetail(err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return webhook.ResultConnect, "The connection was refused."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return webhook.ResultConnect, "The host cannot be reached."
	case p.shaking.Load():
		return webhook.ResultTLS, "The connection was closed during the TLS handshake."
	case p.sent.Load():
		return webhook.ResultConnect, "The connection was closed, or its answer could not be read, before a status line came."
	default:
		return webhook.ResultConnect, "The connection failed."
	}
}

func (p *progress) waitingFor() string {
	switch {
	case p.sent.Load():
		return "the request was sent, no status line came"
	case p.shaking.Load():
		return "the TLS handshake did not finish"
	case p.resolving.Load():
		return "the host name did not resolve in time"
	case p.dialing.Load():
		return "the connection was not accepted"
	default:
		return "the request could not be sent"
	}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) ||
		// crypto/tls has plain errors for the rest, all with this beginning.
		len(err.Error()) > 5 && err.Error()[:5] == "tls: "
}

func tlsDetail(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return "The certificate is signed by an authority that is not trusted. Is the intermediate certificate missing?"
	case errors.As(err, &host):
		return "The certificate is not for this host name."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "The certificate has expired or is not yet valid."
	case errors.As(err, &invalid):
		return "The certificate is not valid for a server."
	case errors.As(err, &record):
		return "The endpoint does not speak TLS on this port."
	default:
		return "The TLS handshake failed. TLS 1.2 or above is needed."
	}
}

func statusLine(status int) string {
	text := http.StatusText(status)
	if text == "" {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status) + " " + text
}

// retryAfter reads the header of a 429 or 503, in seconds or as a date; 0 where there is none.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	value := r.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, webhook.MaxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), webhook.MaxRetryAfter)
	}
	return 0
}
