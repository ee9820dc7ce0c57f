package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	only   []string // names of steps; empty: all
	rounds int
	round  time.Duration

	keys                                     []bool
	conns, partners, subscriptions, backlogs []int

	latency, feed, idle, isolation, hostile, notices time.Duration

	payments, calls, stock, rate int
	postgres                     string

	base, fresh string // directories of binaries to compare; "": this version alone
}

// parse reads the command line. An error ends the program.
func parse(p program, args []string) (o options) {
	names := make([]string, len(p.steps))
	for i, s := range p.steps {
		names[i] = s.name
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := f.String("only", "", "steps to run, comma-separated: "+strings.Join(names, ", ")+`; "" for all`)
	f.IntVar(&o.rounds, "rounds", 5, "rounds of each variant, which take turns")
	f.DurationVar(&o.round, "round", 30*time.Second, "length of a round")
	conns := f.String("conns", p.conns,
		"numbers of connections of the load generator, comma-separated; delivery uses the first")
	keys := f.String("keys", "with,without", "whether POSTs carry an Idempotency-Key, comma-separated: with, without")
	partners := f.String("partners", "30,1", "numbers of partners, comma-separated")
	subscriptions := f.String("subscriptions", "1,4", "subscriptions of each partner, comma-separated")
	f.DurationVar(&o.latency, "latency", 30*time.Second, "how long to measure latency at 20 events/s")
	f.DurationVar(&o.feed, "feed", 30*time.Second, "how long each round at 500 events/s with followers of the feeds lasts")
	f.DurationVar(&o.idle, "idle", 30*time.Second, "how long each round without work lasts")
	f.DurationVar(&o.isolation, "isolation", 40*time.Second, "how long each round beside a receiver that hangs lasts")
	f.DurationVar(&o.hostile, "hostile", 30*time.Second, "how long each round beside hostile receivers lasts")
	f.DurationVar(&o.notices, "notices", time.Minute,
		"how long each round beside unsigned notices of the payment provider lasts")
	backlogs := f.String("backlog", "10000,100000,1000000", "sizes of backlogs to drain, comma-separated")
	f.IntVar(&o.payments, "payments", 5_000, "payments made while the provider is away")
	f.IntVar(&o.calls, "calls", 200_000, "keyed calls before Redis's memory is read")
	f.IntVar(&o.stock, "stock", 0, "deposits and deliveries to store beforehand, each so many; beside an empty database, "+
		"unless -base is given")
	f.IntVar(&o.rate, "rate", 0, "events a second of the steps scale and hanging; 0: a half, or 30 %, of the rate at "+
		"full speed; 500, or 200, if that is not measured")
	f.StringVar(&o.postgres, "postgres", "", "settings of Postgres, as shared_buffers=1GB,max_wal_size=4GB")
	f.StringVar(&o.base, "base", "",
		"directory of binaries (http, dispatcher, and admin for a schema of its own) to compare with -new; "+
			"runs the steps rate or posts only, unless -only names others")
	f.StringVar(&o.fresh, "new", "", "directory of binaries to compare with -base")
	check(f.Parse(args))
	o.only = list(*only)
	for _, name := range o.only {
		if !slices.Contains(names, name) {
			check(fmt.Errorf("-only: there is no step %q", name))
		}
	}
	if (o.base == "") != (o.fresh == "") {
		check(errors.New("-base and -new belong together"))
	}
	if o.base != "" && len(o.only) == 0 {
		o.only = []string{"rate", "posts"}
	}
	for _, k := range list(*keys) {
		if k != "with" && k != "without" {
			check(fmt.Errorf("-keys: %q is neither with nor without", k))
		}
		o.keys = append(o.keys, k == "with")
	}
	o.partners, o.subscriptions = numbers("partners", *partners), numbers("subscriptions", *subscriptions)
	o.backlogs, o.conns = numbers("backlog", *backlogs), numbers("conns", *conns)
	return o
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

func numbers(name, s string) (all []int) {
	for _, word := range list(s) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			check(fmt.Errorf("-%s: %q is no size", name, word))
		}
		all = append(all, n)
	}
	return all
}

// wants tells whether a step runs.
func (o options) wants(step string) bool { return len(o.only) == 0 || slices.Contains(o.only, step) }
