// Command bench measures the service on real processes (docs/guides/benchmark.md).
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

// program is a list of steps, and the numbers of connections unless -conns says otherwise.
type program struct {
	conns string
	steps []step
}

// step is a part of a run.
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
	w, r := &workbench{}, &results{}
	defer w.close()
	w.open(ctx, o)
	defer r.print(os.Stdout) // also after an error: the figures so far may be a quarter of an hour's work
	for _, s := range o.steps {
		err := attempt(func() { s.run(ctx, w, o, r) })
		r.printBoards(os.Stdout)
		check(err)
	}
}
