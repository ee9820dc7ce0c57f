package receiver

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"partnerdeposits/lab/hostiletest"
)

// Responder answers a webhook's request. taken reports whether the answer was a complete 2xx.
type Responder func(w http.ResponseWriter, r *http.Request) (taken bool)

// RespondStatus answers a webhook with a status code, headers (names and values in turn) and an empty body.
func RespondStatus(code int, headers ...string) Responder {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for pair := range slices.Chunk(headers, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(code)
		return http.NewResponseController(w).Flush() == nil && code/100 == 2 //nolint:mnd // the class of a status
	}
}

var RespondOK = RespondStatus(http.StatusOK)

// RespondRefusal refuses a webhook with 400 and the reason as the body.
func RespondRefusal(why string) Responder {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, why, http.StatusBadRequest)
		return false
	}
}

// RespondAfter waits, and then answers a webhook as answer does, unless the sender closes the connection first.
func RespondAfter(wait time.Duration, answer Responder) Responder {
	return func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case <-r.Context().Done():
			return false
		case <-time.After(wait):
			return answer(w, r)
		}
	}
}

// LeaveUnanswered keeps a webhook waiting until its sender closes the connection, or for a minute.
var LeaveUnanswered = RespondAfter(time.Minute, func(http.ResponseWriter, *http.Request) bool { return false })

// Hostile answers to a webhook break the rules of HTTP or TCP.
var (
	RespondConnectionReset = onConn("", false, hostiletest.ResetConnection)
	RespondEndlessHeaders  = onConn("HTTP/1.1 200 OK\r\n", false,
		hostiletest.EndlessHandler("X-Filler: "+strings.Repeat("x", 1000)+"\r\n"))
	RespondEndlessBody = onConn(endless, true, hostiletest.EndlessHandler("flood "))
	// RespondTrickle answers a webhook with one byte at a time, longer than a sender should read.
	RespondTrickle = onConn(endless, true, hostiletest.TrickleHandler("."))
)

const endless = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"

// onConn takes over the TCP connection of a webhook, writes head, and runs then for ten seconds at most.
func onConn(head string, taken bool, then func(net.Conn)) Responder {
	const longest = 10 * time.Second
	return func(w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(longest))
		if _, err := io.WriteString(conn, head); err != nil {
			return false
		}
		then(conn)
		return taken
	}
}
