package receiver

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer answers a webhook and tells whether the answer was a 2xx.
type Answer func(w http.ResponseWriter, r *http.Request) (taken bool)

// Status answers with a status and an empty body.
func Status(code int) Answer {
	return func(w http.ResponseWriter, _ *http.Request) bool {
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

// Later answers 503 and asks for patience.
func Later(seconds int) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		return Status(http.StatusServiceUnavailable)(w, r)
	}
}

// Redirect sends the sender to another path.
func Redirect(path string) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, path, http.StatusFound)
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
func Hang(_ http.ResponseWriter, r *http.Request) bool {
	select {
	case <-r.Context().Done():
	case <-time.After(time.Minute):
	}
	return false
}

// Trickle answers 200 and sends a byte at a time for longer than a sender should read.
func Trickle(w http.ResponseWriter, r *http.Request) bool {
	taken := Take(w, r)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for range 60 {
		select {
		case <-r.Context().Done():
			return taken
		case <-ticker.C:
		}
		if _, err := w.Write([]byte{'.'}); err != nil || http.NewResponseController(w).Flush() != nil {
			break
		}
	}
	return taken
}

// Flood answers 200 and sends up to 32 MB.
func Flood(w http.ResponseWriter, r *http.Request) bool {
	taken := Take(w, r)
	chunk := bytes.Repeat([]byte("flood "), 10<<10)
	for range 512 {
		if _, err := w.Write(chunk); err != nil {
			break
		}
	}
	return taken
}

// Reset resets the connection without an answer.
func Reset(w http.ResponseWriter, _ *http.Request) bool {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	return false
}

// EndlessHeaders sends a megabyte of headers without an end.
func EndlessHeaders(w http.ResponseWriter, _ *http.Request) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	line := []byte("X-Filler: " + strings.Repeat("x", 1000) + "\r\n")
	_, err = conn.Write([]byte("HTTP/1.1 200 OK\r\n"))
	for n := 0; n < 1000 && err == nil; n++ {
		_, err = conn.Write(line)
	}
	return false
}
