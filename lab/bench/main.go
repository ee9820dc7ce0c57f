// Command bench measures the service on real processes.
//
//	bench delivery                                     from the call of the API to the receiver: everything
//	bench api                                          the partner API, and pgbench beside it
//	bench delivery -only rate -rounds 3 -round 5s      a single step, shorter
//	bench delivery -only rate -base DIR -new DIR       two versions in turn, from binaries that were built before
//
// Everything runs on this machine: a private Postgres and Redis, http and dispatcher as deployed, a receiver that
// verifies every delivery, and the load generator. Figures are ratios within a run and CPU-seconds per 1,000
// operations, because both stay stable when the clock rate of the machine varies. CPU counts every process except the
// load generator.
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
		{"hanging", measureHanging}, {"backlog", measureBacklogs},
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
