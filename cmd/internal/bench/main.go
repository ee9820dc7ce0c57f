// Command bench measures delivery end to end, on real processes, beside the floors of the same machine in the same run.
//
//	bench -n 20000            rate and CPU from API call to 2xx, latency, isolation, floors
//	bench -backlog 10000,…    drain of preloaded backlogs
//
// Everything runs on this machine: Postgres and Redis of its own, bin/http and bin/dispatcher as they are deployed, a
// receiver, and the load generator. Figures are ratios within one run and CPU-seconds per 1,000 deliveries, which hold
// still when clocks don't. CPU counts every process but the load generator.
package main

import (
	"context"
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
	floors    bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "receiver" {
		receive()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse()
	if err == nil {
		err = measure(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse() (options, error) {
	var o options
	var backlogs string
	flag.IntVar(&o.n, "n", 20_000, "deposits to cancel at full speed; 0 leaves that out")
	flag.IntVar(&o.conns, "conns", 32, "connections of the load generator")
	flag.StringVar(&backlogs, "backlog", "", "sizes of backlogs to drain, comma-separated")
	flag.DurationVar(&o.latency, "latency", 30*time.Second, "how long to measure latency at 20 events/s; 0 leaves that out")
	flag.DurationVar(&o.isolation, "isolation", 40*time.Second, "how long to measure beside a receiver that hangs; 0 leaves that out")
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
	steps := []struct {
		wanted bool
		run    func(context.Context, *world, options) error
	}{
		{o.floors, measureFloors},
		{o.n > 0, measureThroughput},
		{o.latency > 0, measureLatency},
		{o.isolation > 0, measureIsolation},
		{len(o.backlogs) > 0, measureBacklogs},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		if err := s.run(ctx, w, o); err != nil {
			return err
		}
	}
	return nil
}
