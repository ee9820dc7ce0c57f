package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"partnerdeposits/lab/load"
)

// none is printed in place of a figure that was not measured.
const none = "–"

// figures are the results of a round, by name.
type figures map[string]float64

// String lists the figures in the order of the tables.
func (f figures) String() string {
	var all []string
	for _, c := range columns {
		if n, found := f[c.name]; found {
			all = append(all, fmt.Sprintf("%s %.*f", c.name, c.decimals, n))
		}
	}
	return strings.Join(all, ", ")
}

// withLatency adds the times of operations, and by how much their calls began late.
func (f figures) withLatency(times, late *load.Times) figures {
	f["CPU ms"] = f["CPU"] // seconds per 1,000 are milliseconds each
	f["p50 ms"], f["p99 ms"], f["max ms"] = times.Percentile(50), times.Percentile(99), times.Percentile(100)
	f["late ms"] = late.Percentile(100)
	return f
}

// board collects the rounds of an operation (such as "POST deposits") in several variants.
type board struct {
	operation string
	variants  []string // in the order of measuring
	rounds    map[string][]figures
	pairs     []pair // to compare
}

func newBoard(operation string, pairs ...pair) *board {
	return &board{operation: operation, rounds: map[string][]figures{}, pairs: pairs}
}

// add keeps and prints the figures of a round.
func (b *board) add(variant string, f figures) {
	fmt.Printf("%s, %s: %v\n", b.operation, strings.TrimSpace(variant), f)
	if !slices.Contains(b.variants, variant) {
		b.variants = append(b.variants, variant)
	}
	b.rounds[variant] = append(b.rounds[variant], f)
}

// sample gives a figure of all rounds of a variant.
func (b *board) sample(variant, figure string) (s sample) {
	for _, f := range b.rounds[variant] {
		if v, found := f[figure]; found {
			s = append(s, v)
		}
	}
	return s
}

// ratio compares two variants by a figure: the ratio of the medians, and the ratios of the rounds, each with its
// neighbour.
func (b *board) ratio(variant, to, figure string) ratio {
	above, below := b.sample(variant, figure), b.sample(to, figure)
	r := ratio{of: above.median() / below.median()}
	for i := range min(len(above), len(below)) {
		r.rounds = append(r.rounds, above[i]/below[i])
	}
	return r
}

// ratio of two variants.
type ratio struct {
	of     float64 // of the medians
	rounds sample
}

func (r ratio) String() string {
	if len(r.rounds) == 0 {
		return none
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", r.of, slices.Min(r.rounds), slices.Max(r.rounds))
}

// column is a figure in a table.
type column struct {
	name     string
	decimals int
	spread   bool // show the smallest and the largest round too
}

// columns of a board, in this order. A column that no variant measured is left out.
var columns = []column{
	{"dispatcher %", 2, true}, {"commits/s", 1, true}, {"http %", 2, false}, {"postgres %", 2, false},
	{"redis %", 2, false},
	{"redis cmd/s", 1, false}, {"WAL B/s", 0, false},
	{"p50 ms", 1, true}, {"p99 ms", 1, true}, {"max ms", 1, false}, {"late ms", 1, false}, {"CPU ms", 2, true},
	{"log p50 ms", 1, true}, {"log p99 ms", 1, true}, {"log max ms", 1, false}, {"page p99 ms", 0, false},
	{"rate", 0, true}, {"API rate", 0, false}, {"CPU", 3, true}, {"http", 3, false}, {"dispatcher", 3, false},
	{"postgres", 3, false},
	{"redis", 3, false}, {"receiver", 3, false}, {"generator", 3, false},
	{"WAL B", 0, false}, {"commits", 3, false}, {"redis cmd", 1, false}, {"redis B", 0, false},
	{"http MB", 0, false}, {"disp MB", 0, false}, {"20 CPU s", 1, false}, {"steal %", 1, false}, {"others %", 0, false},
}

// print writes a table of medians, with the smallest and the largest round where the spread matters, and the ratios of
// rate and CPU of each pair. CPU is in seconds per 1,000 operations; WAL, commits and Redis are per operation.
func (b *board) print(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\n%s", b.operation)
	measured := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(b.variants, func(v string) bool { return len(b.sample(v, c.name)) > 0 })
	})
	for _, c := range measured {
		fmt.Fprint(table, "\t", c.name)
	}
	for _, v := range b.variants {
		fmt.Fprintf(table, "\n%s", v)
		for _, c := range measured {
			fmt.Fprint(table, "\t", b.sample(v, c.name).show(c.decimals, c.spread))
		}
	}
	fmt.Fprintln(table)
	_ = table.Flush() // fails when the terminal is gone
	for _, p := range b.pairs {
		fmt.Fprintf(table, "%s: %s ÷ %s\trate %v\tCPU %v\n", b.operation, p.variant, strings.TrimSpace(p.to),
			b.ratio(p.variant, p.to, "rate"), b.ratio(p.variant, p.to, "CPU"))
	}
	_ = table.Flush()
}

// show gives the median, and with spread also the range.
func (s sample) show(decimals int, spread bool) string {
	if len(s) == 0 {
		return none
	}
	median := fmt.Sprintf("%.*f", decimals, s.median())
	if !spread || len(s) == 1 {
		return median
	}
	return fmt.Sprintf("%s (%.*f–%.*f)", median, decimals, slices.Min(s), decimals, slices.Max(s))
}

// pair names two variants to compare.
type pair struct{ variant, to string }

// sample holds repeated measurements of a figure.
type sample []float64

func (s sample) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(s)-1)/2] + sorted[len(s)/2]) / 2
}
