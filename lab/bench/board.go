package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// none is printed in place of a figure that was not measured.
const none = "–"

// figures are the results of a round, by name.
type figures map[string]float64

// column is a figure in a table.
type column struct {
	name     string
	decimals int
	spread   bool // show the smallest and the largest round too
}

// columns of a board, in this order. A column that no variant measured is left out.
var columns = []column{
	{"p50 ms", 1, true}, {"p99 ms", 1, true}, {"late ms", 1, false},
	{"rate", 0, true}, {"CPU", 3, true}, {"http", 3, false}, {"dispatcher", 3, true}, {"postgres", 3, false},
	{"redis", 3, false}, {"receiver", 3, false}, {"generator", 3, false},
	{"WAL B", 0, false}, {"commits", 3, true}, {"redis cmd", 1, false},
	{"http MB", 0, false}, {"disp MB", 0, false}, {"others %", 0, false},
}

// board collects the rounds of an operation (such as "POST deposits") in several variants.
type board struct {
	operation string
	variants  []string                     // in the order of measuring
	samples   map[string]map[string]sample // of each variant, by figure
	pairs     []pair                       // to compare
}

// pair names two variants to compare.
type pair struct{ variant, to string }

// add keeps and prints the figures of a round.
func (b *board) add(variant string, f figures) {
	fmt.Printf("%s, %s:", b.operation, variant)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Printf(" %s %.4g", name, f[name])
	}
	fmt.Println()
	if b.samples[variant] == nil {
		b.variants, b.samples[variant] = append(b.variants, variant), map[string]sample{}
	}
	for name, value := range f {
		b.samples[variant][name] = append(b.samples[variant][name], value)
	}
}

// median gives the median of a figure, shown with its range.
func (b *board) median(variant, figure string) measured {
	s := b.samples[variant][figure]
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == figure })
	return measured{s.median(), s.show(columns[i].decimals, true)}
}

// ratio is that of the medians, shown with the smallest and the largest ratio of two rounds that were neighbours.
func (b *board) ratio(variant, to, figure string) measured {
	above, below := b.samples[variant][figure], b.samples[to][figure]
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

// print writes a table of medians, with the range of the rounds where it matters, and the ratios of each pair.
func (b *board) print(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\n%s", b.operation)
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(b.variants, func(v string) bool { return len(b.samples[v][c.name]) > 0 })
	})
	for _, c := range shown {
		fmt.Fprint(table, "\t", c.name)
	}
	for _, v := range b.variants {
		fmt.Fprintf(table, "\n%s", v)
		for _, c := range shown {
			fmt.Fprint(table, "\t", b.samples[v][c.name].show(c.decimals, c.spread))
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
	lines  []string // compare a target with the measured figure each
	missed int
	boards []*board // of the present step
}

// measured is a figure, and how a table shows it.
type measured struct {
	value float64
	shown string
}

func rounded(n float64) measured { return measured{n, fmt.Sprintf("%.0f", n)} }

// board makes a board that is printed at the end of the step.
func (r *results) board(operation string, pairs []pair) *board {
	b := &board{operation: operation, samples: map[string]map[string]sample{}, pairs: pairs}
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
	r.compare(target, fmt.Sprintf("≥ %v", bound), m, m.value >= bound)
}

func (r *results) atMost(target string, bound float64, m measured) {
	r.compare(target, fmt.Sprintf("≤ %v", bound), m, m.value <= bound)
}

func (r *results) compare(target, bound string, m measured, holds bool) {
	verdict := "yes"
	if !holds {
		verdict = "NO, MISSED"
		r.missed++
	}
	r.lines = append(r.lines, strings.Join([]string{target, bound, m.shown, verdict}, "\t"))
}

// print writes the table. A missed target is no error: machines differ, and other load disturbs them.
func (r *results) print(to io.Writer) {
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	fmt.Fprintf(out, "\ntarget\tbound\tmeasured\tholds?\n%s\n\n%d of %d targets missed\n", strings.Join(r.lines, "\n"),
		r.missed, len(r.lines))
	_ = out.Flush() // fails when the terminal is gone
}
