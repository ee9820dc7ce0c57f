package receiver

import (
	"io"
	"net"
	"net/http"
	"time"
)

type Webhook struct {
	At     time.Time
	Header http.Header
	Body   []byte

	Request *http.Request
}

func (w Webhook) EventName() string { return w.Header.Get("X-Svc-Event") }

// VerifySignature returns "" for a webhook signed with the secret, else the reason for refusing it.
func (w Webhook) VerifySignature(secret string) RejectReason {
	return VerifySignature(secret, w.Header.Get("X-Svc-Signature"), w.Header.Get("X-Svc-Timestamp"), w.Body, w.At)
}

// WebhookHandler passes each complete webhook to take, which chooses the answer. ended, unless nil, gets whether
// the answer was 2xx.
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

// StartServer starts a web server at a free port of this machine and returns its base URL. end stops it.
func StartServer(endpoints http.Handler) (base string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by end
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: endpoints, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
