// Command bench measures the service on real processes, and the floors (rates of single parts) of the same machine in
// the same run.
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
	roles := map[string]func(address string) error{"receiver": receive, "neighbours": serveNeighbours}
	if len(os.Args) == 3 && roles[os.Args[1]] != nil {
		exit(roles[os.Args[1]](os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, args := programOf(os.Args[1:])
	exit(attempt(func() { measure(ctx, p.steps, parse(p, args)) }))
}

// program is a list of steps, and the number of connections unless -conns says otherwise.
type program struct {
	steps []step
	conns string
}

// programOf gives the program that the first argument names, and the other arguments.
func programOf(args []string) (program, []string) {
	programs := map[string]program{"delivery": {deliverySteps, "32"}, "api": {apiSteps, "8,32,128"}}
	if len(args) > 0 {
		if p, found := programs[args[0]]; found {
			return p, args[1:]
		}
	}
	return programs["delivery"], args
}

func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// step is a part of a run.
type step struct {
	name string
	run  func(context.Context, *workbench, options, *results)
}

var deliverySteps = []step{
	{"floors", measureFloors},
	{"rate", measureThroughput},
	{"scale", measureScale},
	{"latency", measureLatency},
	{"idle", measureIdle},
	{"feed", measureFeed},
	{"waiting", measureWaiting},
	{"hanging", measureHanging},
	{"isolation", measureIsolation},
	{"hostile", measureHostility},
	{"backlog", measureBacklogs},
	{"provider", measureProvider},
}

var apiSteps = []step{
	{"redis", measureRedis},
	{"posts", measurePostRates},
	{"reads", measureReads},
	{"lists", measureLists},
	{"routes", measureRoutes},
	{"notices", measureNotices},
}

func measure(ctx context.Context, steps []step, o options) {
	w := &workbench{}
	defer w.close()
	w.open(ctx, o)
	r := &results{}
	defer r.print(os.Stdout) // also after an error: the figures so far may be a quarter of an hour's work
	for _, s := range steps {
		if o.wants(s.name) {
			err := attempt(func() { s.run(ctx, w, o, r) })
			for _, b := range r.boards {
				b.print(os.Stdout)
			}
			r.boards = nil
			check(err)
		}
	}
}
