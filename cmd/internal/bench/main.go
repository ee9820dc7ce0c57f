// Command bench measures delivery end to end on real processes, and the floors (rates of single parts) of the same machine in the same run.
//
//	bench                                                       everything; a quarter of an hour
//	bench -latency 0 -isolation 0 -hostile 0 -backlog ''         rate and CPU from API call to 2xx, and the floors
//
// Everything runs on this machine: a private Postgres and Redis, bin/http and bin/dispatcher as deployed, a receiver,
// and the load generator. Figures are ratios within a run and CPU-seconds per 1,000 deliveries, because both stay
// stable when the clock rate of the machine varies. CPU counts every process except the load generator.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	n, conns  int
	backlogs  []int
	latency   time.Duration
	isolation time.Duration
	hostile   time.Duration
	floors    bool
}

func main() {
	if len(os.Args) == 3 {
		for role, serve := range map[string]func(address string) error{"receiver": receive, "neighbours": serveNeighbours} {
			if os.Args[1] == role {
				exit(serve(os.Args[2]))
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse()
	if err == nil {
		err = measure(ctx, o)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func parse() (options, error) {
	var o options
	var backlogs string
	flag.IntVar(&o.n, "n", 20_000, "deposits to cancel at full speed; 0 leaves out their rate")
	flag.IntVar(&o.conns, "conns", 32, "connections of the load generator")
	flag.StringVar(&backlogs, "backlog", "10000,100000,1000000", "sizes of backlogs to drain, comma-separated")
	flag.DurationVar(&o.latency, "latency", 30*time.Second, "how long to measure latency at 20 events/s; 0 leaves that out")
	flag.DurationVar(&o.isolation, "isolation", 40*time.Second, "how long each round beside a receiver that hangs lasts; 0 leaves that out")
	flag.DurationVar(&o.hostile, "hostile", 30*time.Second, "how long each round beside hostile receivers lasts; 0 leaves that out")
	flag.BoolVar(&o.floors, "floors", true, "measure the floors")
	flag.Parse()
	for _, s := range strings.FieldsFunc(backlogs, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-backlog: %q is no size", s)
		}
		o.backlogs = append(o.backlogs, n)
	}
	return o, nil
}

func measure(ctx context.Context, o options) error {
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	r := &results{}
	steps := []struct {
		wanted bool
		run    func(context.Context, *world, options, *results) error
	}{
		{o.floors, measureFloors},
		{o.n > 0, measureThroughput},
		{o.latency > 0, measureLatency},
		{o.isolation > 0, measureIsolation},
		{o.hostile > 0, measureHostility},
		{len(o.backlogs) > 0, measureBacklogs},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		if err := s.run(ctx, w, o, r); err != nil {
			return errors.Join(err, r.print(os.Stdout)) // print also after an error: the figures so far may be a quarter of an hour's work
		}
	}
	return r.print(os.Stdout)
}
