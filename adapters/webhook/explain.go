package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"partnerdeposits/core/webhook"
)

const (
	unreadable   = "The answer could not be read: it was broken off, or was not HTTP."
	largeHeaders = "The headers of the answer are too large: above 32 KiB."
)

// explain returns the result of a failed attempt and a detail for the partner's developer, without addresses of
// this service's network or the text of err.
func explain(err error, a *attemptContext, timeout time.Duration) (webhook.AttemptResult, string) {
	stage := a.stage.Load()
	var dns *net.DNSError
	switch {
	case errors.Is(err, errNotPublic):
		return webhook.ResultAddressBlocked, "The host leads to an address that is not public."
	case errors.Is(a.Err(), context.Canceled):
		return webhook.ResultConnectFailed, "The attempt was broken off on our side."
	case a.Err() != nil:
		return webhook.ResultTimeout, "No answer within " + timeout.String() + ": " + waitingFor(stage) + "."
	case errors.As(err, &dns):
		return webhook.ResultDNSFailed, dnsDetail(dns)
	case isTLS(err):
		return webhook.ResultTLSFailed, tlsDetail(err)
	case hasLargeHeaders(err):
		return webhook.ResultNon2xx, largeHeaders // An endpoint that sends large headers was reached and has answered.
	default:
		return webhook.ResultConnectFailed, connectDetail(err, stage)
	}
}

func waitingFor(stage int32) string {
	switch stage {
	case queued:
		return "the connections to it that were begun before were not ready"
	case resolving:
		return "the host name did not resolve in time"
	case connecting:
		return "the connection was not accepted"
	case shaking:
		return "the TLS handshake did not finish"
	default:
		return "the connection stood, but no status line with its headers came"
	}
}

func dnsDetail(err *net.DNSError) string {
	if err.IsNotFound {
		return "The host name does not resolve."
	}
	return "The host name does not resolve: its name servers failed or did not answer."
}

func connectDetail(err error, stage int32) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The connection was refused."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "The host cannot be reached."
	case errors.Is(err, errTooManyDials):
		return "The endpoint ended each connection before it answered."
	case isClosed(err):
		return "The connection was closed before a status line came."
	case stage == connected || stage == begun:
		return unreadable
	default:
		return "The connection failed."
	}
}

// hasLargeHeaders reports whether an answer's headers were too large. net/http has only texts for these errors.
func hasLargeHeaders(err error) bool {
	return strings.Contains(err.Error(), "server response headers exceeded") ||
		strings.Contains(err.Error(), "response header list larger than advertised limit")
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		// net/http does not export the error of an idle connection that the server closed, so its text is compared.
		err.Error() == "http: server closed idle connection"
}

// isTLS reports whether TLS failed, in the handshake or by a later alert: with TLS 1.3 an endpoint that requires
// a client certificate reports its absence after the handshake.
func isTLS(err error) bool {
	var handshake handshakeError
	var alert *net.OpError
	return errors.As(err, &handshake) ||
		errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error")
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
	case isClosed(err):
		return "The connection was closed during the TLS handshake."
	default:
		return "The TLS handshake failed. TLS 1.2 or above is needed, and no certificate of ours."
	}
}
