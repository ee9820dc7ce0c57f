package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/valyala/fasthttp"

	"partnerdeposits/lab/hostiletest"
)

// addresses of the receiver beside the first: a host for each of so many partners.
const addresses = 30

// sinkOf is the base URL of the i-th partner's receiver.
func (w *world) sinkOf(i int) string {
	return strings.Replace(w.sink, "127.0.0.1", host127(i), 1)
}

func host127(i int) string { return fmt.Sprintf("127.0.1.%d", 1+i%addresses) }

// receive serves the receiver process at address and, on the same port, at an address for each partner. /elsewhere takes
// deliveries without counting them, /hang takes them after ten seconds, every other path takes and counts them. Each
// delivery is verified, as real receivers do. /count gives the tally, and /arrivals the times of arrival since the last
// call of /arrivals.
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

// serveNeighbours serves twenty hostile and twenty well-behaved receivers, each at an address of its own. /hostile and
// /civil list the addresses, /authority gives the certificate to trust. The neighbours run apart from the measured
// receiver and at the lowest priority: real hostile receivers run on machines of their own.
func serveNeighbours(address string) error {
	const last = 19
	if err := syscall.Setpriority(syscall.PRIO_PGRP, 0, last); err != nil { // the group is this process, with all its threads
		return err
	}
	ca := hostiletest.NewAuthority(host{})
	hostile := hostiletest.Hostile(host{}, ca)
	civil := make([]string, len(hostile))
	for i := range civil {
		taking := hostiletest.Answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", nil)
		civil[i] = "http://" + hostiletest.Serve(host{}, taking).Address
	}
	return serve(address, func(c *fasthttp.RequestCtx) {
		switch string(c.Path()) {
		case "/hostile":
			c.SetBodyString(strings.Join(hostile, "\n"))
		case "/civil":
			c.SetBodyString(strings.Join(civil, "\n"))
		case "/authority":
			c.SetBody(ca.PEM())
		}
	})
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

// startNeighbours starts the neighbours' process, makes later dispatchers trust its certificate, and gives the
// addresses.
func (w *world) startNeighbours(ctx context.Context) (hostile, civil []string, err error) {
	var base string
	w.neighbours, base, err = w.startSelf(ctx, "neighbours", "/authority")
	if err != nil {
		return nil, nil, err
	}
	answers := map[string]string{}
	for _, path := range []string{"/hostile", "/civil", "/authority"} {
		status, body, err := fasthttp.Get(nil, base+path)
		if err != nil || status != http.StatusOK {
			return nil, nil, fmt.Errorf("neighbours: %s: %d: %w", path, status, err)
		}
		answers[path] = string(body)
	}
	w.authority = w.dir + "/authority.pem"
	err = os.WriteFile(w.authority, []byte(answers["/authority"]), 0o600)
	return strings.Fields(answers["/hostile"]), strings.Fields(answers["/civil"]), err
}
