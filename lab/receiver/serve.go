package receiver

import (
	"io"
	"net"
	"net/http"
	"time"
)

// Webhook is a request as it arrived.
type Webhook struct {
	At     time.Time
	Header http.Header
	Body   []byte

	Request *http.Request
}

// Event is the event's name in the header.
func (w Webhook) Event() string { return w.Header.Get("X-Svc-Event") }

// Check verifies the signature.
func (w Webhook) Check(secret string) Reason {
	return Verify(secret, w.Header.Get("X-Svc-Signature"), w.Header.Get("X-Svc-Timestamp"), w.Body, w.At)
}

// Serve passes each webhook that arrives whole to take, which chooses the answer. ended, if any, is told whether the
// answer was a 2xx.
func Serve(take func(Webhook) (answer Answer, ended func(taken bool))) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil { // the sender is gone, or sends more than an event
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

// Listen serves endpoints at a free port of this machine, until end.
func Listen(endpoints http.Handler) (base string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by end
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: endpoints, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with the server
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
