// Command bench measures the rate, latency and cost of the service on real processes (docs/guides/measuring.md).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == receiverRole {
		exit(receive(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(attempt(func() { measure(ctx, parse(os.Args[1:])) }))
}

func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// program is a benchmark of the command line: its steps, and its numbers of connections unless -conns overrides
// them.
type program struct {
	conns string
	steps []step
}

type step struct {
	name string
	run  func(context.Context, *workbench, options, *results)
}

var programs = map[string]program{
	"delivery": {"32", []step{
		{"rate", measureRate}, {"scale", measureScale}, {"latency", measureLatency}, {"idle", measureIdle},
		{"hanging", measureHanging},
	}},
	"api": {"8,32,128", []step{{"posts", measurePosts}, {"reads", measureReads}}},
}

func measure(ctx context.Context, o options) {
	w, r := &workbench{perEvent: o.subscriptions}, &results{}
	defer w.close()
	w.open(ctx, o)
	// The results are printed even after an error: they may be a quarter of an hour's work.
	defer r.print(os.Stdout)
	for _, s := range o.steps {
		err := attempt(func() { s.run(ctx, w, o, r) })
		r.printBoards(os.Stdout)
		check(err)
	}
}
