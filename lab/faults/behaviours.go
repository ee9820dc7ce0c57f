package main

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// behaviours give the share of each behaviour in percent of the copies. The remaining copies get a plain 200.
type behaviours map[behaviour]int

// behaviour is the receiver's response to a copy.
type behaviour string

const (
	takes    behaviour = "takes"
	fails    behaviour = "500"
	later    behaviour = "503 with Retry-After"
	slow     behaviour = "200 after a while"
	hangs    behaviour = "no answer"
	trickles behaviour = "200, then a byte at a time"
	resets   behaviour = "connection reset"
	redirect behaviour = "302"
	huge     behaviour = "200 with an endless body"
	heads    behaviour = "endless headers"
)

// inOrder lists the behaviours in a fixed order, so that a seed repeats its choices.
var inOrder = []behaviour{fails, later, slow, hangs, trickles, resets, redirect, huge, heads}

var (
	polite  = behaviours{fails: 2}
	moody   = behaviours{fails: 8, later: 2, slow: 2}
	hostile = behaviours{fails: 8, later: 2, slow: 4, hangs: 3, trickles: 5, resets: 8, redirect: 5, huge: 5, heads: 3}
)

func (m behaviours) choose(dice *rand.Rand) behaviour {
	const percent = 100
	at := dice.IntN(percent)
	for _, way := range inOrder {
		if at -= m[way]; at < 0 {
			return way
		}
	}
	return takes
}

// respond answers a copy and tells whether the response was a 2xx.
func (r *receivers) respond(w http.ResponseWriter, req *http.Request, e *endpoint, p payload, nth int) bool {
	e.mu.Lock()
	current := e.override
	e.mu.Unlock()
	dice := r.dice(e, p, nth)
	way := e.behaviours.choose(dice)
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
		case <-time.After(rand.N(longest)): //nolint:gosec // the exact wait is irrelevant
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

// trickle sends a byte at a time for longer than a sender should read. The 200 was sent before, so the copy counts as
// taken.
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

// cutOff resets the connection without a response.
func cutOff(w http.ResponseWriter) {
	if conn, ok := hijack(w); ok {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// endlessHeaders sends a megabyte of headers without an end.
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
