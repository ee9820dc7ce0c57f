package receiver

import (
	"io"
	"net"
	"net/http"
	"time"
)

// Webhook is a webhook request as it arrived: time, headers and raw body.
type Webhook struct {
	At     time.Time
	Header http.Header
	Body   []byte

	Request *http.Request
}

// EventName returns the name of the webhook's event, from its header.
func (w Webhook) EventName() string { return w.Header.Get("X-Svc-Event") }

// VerifySignature verifies the webhook's signature with a secret. Returns "" for a valid webhook, else the reason
// for refusing it.
func (w Webhook) VerifySignature(secret string) RejectReason {
	return VerifySignature(secret, w.Header.Get("X-Svc-Signature"), w.Header.Get("X-Svc-Timestamp"), w.Body, w.At)
}

// WebhookHandler returns an HTTP handler that passes each complete webhook to the function take, which chooses
// the answer. Afterwards it calls the function ended, unless that is nil, with true for a 2xx answer and false
// for any other.
func WebhookHandler(take func(Webhook) (answer Responder, ended func(taken bool))) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		// The sender has closed the connection, or the body is larger than any event.
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		answer, ended := take(Webhook{At: at, Header: r.Header, Body: body, Request: r})
		taken := false
		defer func() {
			if ended != nil {
				ended(taken)
			}
		}()
		taken = answer(w, r)
	})
}

// StartServer starts a web server at a free port of this machine, and returns its base URL. The function end stops it.
func StartServer(endpoints http.Handler) (base string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by end
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: endpoints, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // The goroutine ends when the web server is closed.
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
