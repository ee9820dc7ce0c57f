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

// Answer answers a webhook and tells whether the answer was a 2xx.
type Answer func(w http.ResponseWriter, r *http.Request) (taken bool)

// Status answers with a status, headers (names and values in turn), and an empty body.
func Status(code int, headers ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for pair := range slices.Chunk(headers, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(code)
		return http.NewResponseController(w).Flush() == nil && code/100 == 2 //nolint:mnd // the class of a status
	}
}

// Take answers 200.
var Take = Status(http.StatusOK)

// Refuse answers 400 and says why.
func Refuse(why string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, why, http.StatusBadRequest)
		return false
	}
}

// After waits before it answers, unless the sender gives up.
func After(wait time.Duration, answer Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case <-r.Context().Done():
			return false
		case <-time.After(wait):
			return answer(w, r)
		}
	}
}

// Hang gives no answer until the sender has given up or died.
var Hang = After(time.Minute, func(http.ResponseWriter, *http.Request) bool { return false })

// Bad answers at the level of the connection.
var (
	Reset          = onConn("", false, hostiletest.Reset)
	EndlessHeaders = onConn("HTTP/1.1 200 OK\r\n", false,
		hostiletest.Forever("X-Filler: "+strings.Repeat("x", 1000)+"\r\n"))
	Flood = onConn(endless, true, hostiletest.Forever("flood ")) // a body without end
	// a byte at a time, for longer than a sender should read
	Trickle = onConn(endless, true, hostiletest.Trickle("."))
)

const endless = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"

// onConn takes the connection from the server and goes on with then, for some seconds at most.
func onConn(head string, taken bool, then func(net.Conn)) Answer {
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
