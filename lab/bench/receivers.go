package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/hostiletest"
	"partnerdeposits/lab/receiver"
)

// addresses of the receiver beside the first: a host for each of so many partners.
const addresses = 30

// sinkOf is the base URL of the i-th partner's receiver.
func (w *workbench) sinkOf(i int) string {
	return strings.Replace(w.sink, "127.0.0.1", host127(i), 1)
}

func host127(i int) string { return fmt.Sprintf("127.0.1.%d", 1+i%addresses) }

// receive serves the receiver process at address and, on the same port, at an address for each partner. /elsewhere
// takes deliveries without counting them, /hang takes them after ten seconds, every other path takes and counts them.
// Each delivery is verified, as real receivers do. /count gives the tally, and /arrivals the times of arrival since the
// last call of /arrivals.
func receive(address string) error {
	taken := newTally()
	port := strings.TrimPrefix(address, "127.0.0.1")
	failed := make(chan error, 1+addresses)
	for i := range addresses {
		go func() { failed <- serve(host127(i)+port, taken.answer) }()
	}
	go func() { failed <- serve(address, taken.answer) }()
	return <-failed
}

// neighbours are the addresses of twenty hostile and twenty well-behaved receivers, and the certificate to trust.
type neighbours struct {
	Hostile, Civil []string
	Authority      string
}

// serveNeighbours serves the neighbours, and lists them at /. They run apart from the measured receiver and at the
// lowest priority: real hostile receivers run on machines of their own.
func serveNeighbours(address string) error {
	const last = 19
	if err := syscall.Setpriority(syscall.PRIO_PGRP, 0, last); err != nil {
		// the group is this process, with all its threads
		return err
	}
	ca := hostiletest.NewAuthority(host{})
	all := neighbours{Hostile: hostiletest.Hostile(host{}, ca), Authority: string(ca.PEM())}
	for range all.Hostile {
		taking := hostiletest.Answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", nil)
		all.Civil = append(all.Civil, "http://"+hostiletest.Serve(host{}, taking).Address)
	}
	return serve(address, func(c *fasthttp.RequestCtx) { _ = json.NewEncoder(c).Encode(all) })
}

func serve(address string, handler fasthttp.RequestHandler) error {
	server := &fasthttp.Server{NoDefaultServerHeader: true, NoDefaultDate: true, Concurrency: 1 << 18, Handler: handler}
	return server.ListenAndServe(address)
}

// host lets a process use servers that were written for tests. They live as long as the process.
type host struct{}

func (host) Cleanup(func()) {}

func (host) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// tally counts the deliveries that the receiver takes.
type tally struct {
	seed maphash.Seed

	mu       sync.Mutex
	counts   counts
	seen     map[uint64]struct{}  // hashes of address, path and body, which are the same for all attempts of a delivery
	arrivals map[string]time.Time // first arrival by deposit id; nil until the first call of /arrivals
}

// counts are the figures of /count.
type counts struct {
	Taken      int // deliveries with a valid signature, each once
	Duplicates int // further arrivals of a delivery
	Invalid    int // arrivals without a valid signature
}

func newTally() *tally { return &tally{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}} }

func (t *tally) answer(c *fasthttp.RequestCtx) {
	path := string(c.Path())
	switch path {
	case "/count":
		t.mu.Lock()
		defer t.mu.Unlock()
		_ = json.NewEncoder(c).Encode(t.counts)
		return
	case "/arrivals":
		t.mu.Lock()
		defer t.mu.Unlock()
		_ = json.NewEncoder(c).Encode(t.arrivals)
		t.arrivals = map[string]time.Time{}
		return
	}
	valid := receiver.Verify(webhookSecret, string(c.Request.Header.Peek(webhook.HeaderSignature)),
		string(c.Request.Header.Peek(webhook.HeaderTimestamp)), c.PostBody(), time.Now()) == ""
	if !valid {
		c.SetStatusCode(fasthttp.StatusBadRequest)
	}
	switch path {
	case "/hang":
		time.Sleep(10 * time.Second) //nolint:forbidigo // a slow receiver is the purpose
	case "/elsewhere":
	default:
		t.add(c.Host(), path, c.PostBody(), valid, time.Now())
	}
}

func (t *tally) add(host []byte, path string, body []byte, valid bool, at time.Time) {
	var h maphash.Hash
	h.SetSeed(t.seed)
	_, _ = h.Write(host) // never fails
	_, _ = h.WriteString(path)
	_, _ = h.Write(body)
	sum := h.Sum64()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !valid {
		t.counts.Invalid++
		return
	}
	if _, known := t.seen[sum]; known {
		t.counts.Duplicates++
		return
	}
	t.seen[sum] = struct{}{}
	t.counts.Taken++
	if t.arrivals == nil {
		return
	}
	if depositID, err := idIn(body, id.Deposit); err == nil {
		if _, known := t.arrivals[depositID]; !known {
			t.arrivals[depositID] = at
		}
	}
}

// ask gives the receiver's answer.
func ask[T any](w *workbench, path string) (answer T) {
	_, body, err := fasthttp.Get(nil, w.sink+path)
	check(err)
	check(json.Unmarshal(body, &answer))
	return answer
}

// counted asks the receiver for its figures.
func (w *workbench) counted() counts { return ask[counts](w, "/count") }

func (w *workbench) taken() int { return w.counted().Taken }

// arrivals gives the first arrival of each deposit's deliveries since the last call, and starts the record.
func (w *workbench) arrivals() map[string]time.Time { return ask[map[string]time.Time](w, "/arrivals") }

// awaitTaken waits until the receiver has taken n deliveries, as long as some arrive each minute.
func (w *workbench) awaitTaken(ctx context.Context, n int) {
	const patience = time.Minute
	last, before := time.Now(), 0
	for {
		switch taken := w.taken(); {
		case taken >= n:
			return
		case taken > before:
			last, before = time.Now(), taken
		case time.Since(last) > patience:
			check(
				fmt.Errorf("%d deliveries are missing, and none came in %v\n%s", n-taken, patience, w.dispatcher.Process().Log()))
		}
		check(pause(ctx, 20*time.Millisecond))
	}
}
