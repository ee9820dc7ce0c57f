package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/valyala/fasthttp"

	"partnerdeposits/lab/hostiletest"
	"partnerdeposits/lab/procs"
)

// addresses of the receiver beside the first: a host for each of so many partners.
const addresses = 30

// sinkOf is the base URL of the i-th partner's receiver.
func (w *workbench) sinkOf(i int) string {
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

// neighbours are the addresses of twenty hostile and twenty well-behaved receivers, and the certificate to trust.
type neighbours struct {
	Hostile, Civil []string
	Authority      string
}

// serveNeighbours serves the neighbours, and lists them at /. They run apart from the measured receiver and at the lowest
// priority: real hostile receivers run on machines of their own.
func serveNeighbours(address string) error {
	const last = 19
	if err := syscall.Setpriority(syscall.PRIO_PGRP, 0, last); err != nil { // the group is this process, with all its threads
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

// startNeighbours starts the neighbours' process, and makes later dispatchers trust its certificate.
func (w *workbench) startNeighbours(ctx context.Context) (p *procs.Process, all neighbours) {
	p, base := startSelf(ctx, "neighbours", "/")
	_, body, err := fasthttp.Get(nil, base+"/")
	check(err)
	check(json.Unmarshal(body, &all))
	authority := w.dir + "/authority.pem"
	check(os.WriteFile(authority, []byte(all.Authority), 0o600))
	w.settings = map[string][]string{"dispatcher": {"SSL_CERT_FILE=" + authority}}
	return p, all
}
