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
	steps  []step
	rounds int
	round  time.Duration

	keys            []bool
	conns, partners []int
	rate, stock     int
	subscriptions   int
	postgres        string

	// Directories of the binaries of two versions to compare; "": only this version.
	base, fresh string
}

// parse reads the command line of bench. A wrong argument ends the program.
func parse(args []string) (o options) {
	p := programs["delivery"]
	if len(args) > 0 && programs[args[0]].steps != nil {
		p, args = programs[args[0]], args[1:]
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := f.String("only", "", "steps to run, comma-separated: "+strings.Join(namesOf(p.steps), ", ")+`; "" for all`)
	f.IntVar(&o.rounds, "rounds", 5, "rounds of each variant, which take turns")
	f.DurationVar(&o.round, "round", 30*time.Second, "length of a round")
	conns := f.String("conns", p.conns,
		"numbers of connections of the load generator, comma-separated; delivery uses the first")
	keys := f.String("keys", "with,without", "whether POSTs carry an Idempotency-Key, comma-separated: with, without")
	partners := f.String("partners", "30,1", "numbers of partners, comma-separated")
	f.IntVar(&o.rate, "rate", 0, "events a second of the steps scale and hanging; 0: 1000 and 200")
	f.IntVar(&o.subscriptions, "subscriptions", 1, "subscriptions of each partner")
	f.IntVar(&o.stock, "stock", 0, "deposits and deliveries to store beforehand, each so many; beside an empty database, "+
		"unless -base is given")
	f.StringVar(&o.postgres, "postgres", "", "settings of Postgres, as shared_buffers=1GB,max_wal_size=4GB")
	f.StringVar(&o.base, "base", "",
		"directory of binaries (http, dispatcher, and admin for a schema of their own) to compare with -new; "+
			"runs the steps rate or posts only, unless -only names others")
	f.StringVar(&o.fresh, "new", "", "directory of binaries to compare with -base")
	check(f.Parse(args))
	if (o.base == "") != (o.fresh == "") {
		check(errors.New("-base and -new belong together"))
	}
	names := namesOf(p.steps)
	switch {
	case *only != "":
		names = strings.Split(*only, ",")
	case o.base != "":
		names = names[:1]
	}
	for _, name := range names {
		i := slices.Index(namesOf(p.steps), name)
		if i < 0 {
			check(fmt.Errorf("-only: there is no step %q", name))
		}
		o.steps = append(o.steps, p.steps[i])
	}
	for k := range strings.SplitSeq(*keys, ",") {
		if k != "with" && k != "without" {
			check(fmt.Errorf("-keys: %q is neither with nor without", k))
		}
		o.keys = append(o.keys, k == "with")
	}
	o.partners, o.conns = numbers("partners", *partners), numbers("conns", *conns)
	return o
}

func namesOf(steps []step) (names []string) {
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

func numbers(name, s string) (all []int) {
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			check(fmt.Errorf("-%s: %q is no size", name, word))
		}
		all = append(all, n)
	}
	return all
}
