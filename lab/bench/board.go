package main

import (
	"fmt"
	"io"
	"math"
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
	f["p50 ms"], f["p99 ms"], f["max ms"] = times.Percentile(50), times.Percentile(99), times.Percentile(100)
	f["late ms"] = late.Percentile(100)
	return f
}

// column is a figure in a table.
type column struct {
	name     string
	decimals int
	spread   bool // show the smallest and the largest round too
}

// columns of a board, in this order. A column that no variant measured is left out. CPU is in seconds per 1,000
// operations, which are milliseconds each; WAL, commits and Redis are per operation.
var columns = []column{
	{"p50 ms", 1, true}, {"p99 ms", 1, true}, {"max ms", 1, false}, {"late ms", 1, false},
	{"rate", 0, true}, {"CPU", 3, true}, {"http", 3, false}, {"dispatcher", 3, true}, {"postgres", 3, false},
	{"redis", 3, false}, {"receiver", 3, false}, {"generator", 3, false},
	{"WAL B", 0, false}, {"commits", 3, true}, {"redis cmd", 1, false}, {"redis B", 0, false},
	{"http MB", 0, false}, {"disp MB", 0, false}, {"steal %", 1, false}, {"others %", 0, false},
}

// board collects the rounds of an operation (such as "POST deposits") in several variants.
type board struct {
	operation string
	variants  []string // in the order of measuring
	rounds    map[string][]figures
	pairs     []pair // to compare
}

// pair names two variants to compare.
type pair struct{ variant, to string }

func newBoard(operation string, pairs []pair) *board {
	return &board{operation: operation, rounds: map[string][]figures{}, pairs: pairs}
}

// add keeps and prints the figures of a round.
func (b *board) add(variant string, f figures) {
	fmt.Printf("%s, %s: %v\n", b.operation, variant, f)
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

// median gives the median of a figure, shown with its range.
func (b *board) median(variant, figure string) measured {
	s := b.sample(variant, figure)
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == figure })
	return measured{s.median(), s.show(columns[i].decimals, true)}
}

// ratio compares two variants by a figure: the ratio of the medians, shown with the smallest and the largest ratio of
// two rounds that were neighbours.
func (b *board) ratio(variant, to, figure string) measured {
	above, below := b.sample(variant, figure), b.sample(to, figure)
	var rounds sample
	for i := range min(len(above), len(below)) {
		rounds = append(rounds, above[i]/below[i])
	}
	r := measured{above.median() / below.median(), none}
	if len(rounds) > 0 {
		r.shown = fmt.Sprintf("%.2f (%.2f–%.2f)", r.value, slices.Min(rounds), slices.Max(rounds))
	}
	return r
}

// print writes a table of medians, with the smallest and the largest round where the spread matters, and the ratios of
// each pair.
func (b *board) print(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\n%s", b.operation)
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(b.variants, func(v string) bool { return len(b.sample(v, c.name)) > 0 })
	})
	for _, c := range shown {
		fmt.Fprint(table, "\t", c.name)
	}
	for _, v := range b.variants {
		fmt.Fprintf(table, "\n%s", v)
		for _, c := range shown {
			fmt.Fprint(table, "\t", b.sample(v, c.name).show(c.decimals, c.spread))
		}
	}
	fmt.Fprintln(table)
	_ = table.Flush() // fails when the terminal is gone
	for _, p := range b.pairs {
		fmt.Fprintf(table, "%s: %s ÷ %s", b.operation, p.variant, p.to)
		for _, figure := range []string{"rate", "CPU", "p50 ms", "p99 ms"} {
			if r := b.ratio(p.variant, p.to, figure); r.shown != none {
				fmt.Fprintf(table, "\t%s %s", figure, r.shown)
			}
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
}

// sample holds repeated measurements of a figure.
type sample []float64

// median is not a number for an empty sample, which compares with no target.
func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(s)-1)/2] + sorted[len(s)/2]) / 2
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

// results are the figures of the steps that ran.
type results struct {
	lines  []line
	boards []*board // of the present step
}

// line compares a target with the measured figure.
type line struct {
	target, bound, measured string
	holds                   bool
}

// measured is a figure, and how a table shows it.
type measured struct {
	value float64
	shown string
}

func rounded(n float64) measured { return measured{n, fmt.Sprintf("%.0f", n)} }

// board makes a board that is printed at the end of the step.
func (r *results) board(operation string, pairs []pair) *board {
	b := newBoard(operation, pairs)
	r.boards = append(r.boards, b)
	return b
}

func (r *results) printBoards(to io.Writer) {
	for _, b := range r.boards {
		b.print(to)
	}
	r.boards = nil
}

// atLeast and atMost compare a figure with its target. A figure that is not a number does not hold.
func (r *results) atLeast(target string, bound float64, m measured) {
	r.lines = append(r.lines, line{target, fmt.Sprintf("≥ %v", bound), m.shown, m.value >= bound})
}

func (r *results) atMost(target string, bound float64, m measured) {
	r.lines = append(r.lines, line{target, fmt.Sprintf("≤ %v", bound), m.shown, m.value <= bound})
}

// print writes the table. A missed target is not an error of the benchmark: machines differ, and other load disturbs
// them.
func (r *results) print(to io.Writer) {
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	fmt.Fprint(out, "\ntarget\tbound\tmeasured\tholds?\n")
	missed := 0
	for _, l := range r.lines {
		verdict := "yes"
		if !l.holds {
			verdict = "NO, MISSED"
			missed++
		}
		fmt.Fprintln(out, strings.Join([]string{l.target, l.bound, l.measured, verdict}, "\t"))
	}
	fmt.Fprintf(out, "\n%d of %d targets missed\n", missed, len(r.lines))
	_ = out.Flush() // fails when the terminal is gone
}
