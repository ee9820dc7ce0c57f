package main

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// manners are how an endpoint answers, in percent of the copies; the rest is taken with a plain 200.
type manners map[manner]int

// manner is one way to answer.
type manner string

const (
	takes    manner = "takes"
	fails    manner = "500"
	later    manner = "503 with Retry-After"
	slow     manner = "200 after a while"
	hangs    manner = "no answer"
	trickles manner = "200, then a byte at a time"
	resets   manner = "connection reset"
	redirect manner = "302"
	huge     manner = "200 with an endless body"
	heads    manner = "endless headers"
)

// inOrder lists the manners, so that a seed gives the same choice each time.
var inOrder = []manner{fails, later, slow, hangs, trickles, resets, redirect, huge, heads}

var (
	polite  = manners{fails: 2}
	moody   = manners{fails: 8, later: 2, slow: 2}
	hostile = manners{fails: 8, later: 2, slow: 4, hangs: 3, trickles: 5, resets: 8, redirect: 5, huge: 5, heads: 3}
)

func (m manners) choose(dice *rand.Rand) manner {
	const percent = 100
	at := dice.IntN(percent)
	for _, way := range inOrder {
		if at -= m[way]; at < 0 {
			return way
		}
	}
	return takes
}

// respond answers one copy and tells whether it was taken: whether a 2xx went out.
func (r *receivers) respond(w http.ResponseWriter, req *http.Request, e *endpoint, p payload, nth int) bool {
	e.mu.Lock()
	current := e.mood
	e.mu.Unlock()
	dice := r.dice(e, p, nth)
	way := e.manners.choose(dice)
	switch current {
	case broken:
		way = fails
	case hanging:
		way = hangs
	case usual:
	}
	switch way {
	case fails:
		w.WriteHeader(http.StatusInternalServerError)
	case later:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case redirect:
		http.Redirect(w, req, "/elsewhere", http.StatusFound)
	case hangs:
		awaitGone(req.Context())
	case resets:
		cutOff(w)
	case heads:
		endlessHeaders(w)
	case slow:
		const longest = 600 * time.Millisecond
		select {
		case <-req.Context().Done():
			return false
		case <-time.After(rand.N(longest)): //nolint:gosec // how long exactly decides nothing
		}
		return accept(w)
	case trickles:
		return accept(w) && trickle(w, req)
	case huge:
		return accept(w) && flood(w)
	case takes:
		return accept(w)
	}
	return false
}

func accept(w http.ResponseWriter) bool {
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w).Flush() == nil
}

// trickle sends a byte at a time for longer than anybody should listen. The 200 is out, so the copy is taken.
func trickle(w http.ResponseWriter, req *http.Request) bool {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for range 60 {
		select {
		case <-req.Context().Done():
			return true
		case <-ticker.C:
		}
		if _, err := w.Write([]byte{'.'}); err != nil || http.NewResponseController(w).Flush() != nil {
			return true
		}
	}
	return true
}

// flood sends up to 32 MB after the 200.
func flood(w http.ResponseWriter) bool {
	chunk := bytes.Repeat([]byte("flood "), 10<<10)
	for range 512 {
		if _, err := w.Write(chunk); err != nil {
			break
		}
	}
	return true
}

func hijack(w http.ResponseWriter) (net.Conn, bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	return conn, err == nil
}

// cutOff resets the connection without an answer.
func cutOff(w http.ResponseWriter) {
	if conn, ok := hijack(w); ok {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// endlessHeaders begins an answer whose headers do not end within a megabyte.
func endlessHeaders(w http.ResponseWriter) {
	conn, ok := hijack(w)
	if !ok {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	line := "X-Filler: " + strings.Repeat("x", 1000) + "\r\n"
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n")); err != nil {
		return
	}
	for range 1000 {
		if _, err := conn.Write([]byte(line)); err != nil {
			return
		}
	}
}
