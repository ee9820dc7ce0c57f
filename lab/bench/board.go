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

// none stands in tables of results for a figure that was not measured.
const none = "–"

// figures maps names of figures, such as "p99 ms", to their values in a benchmark round.
type figures map[string]float64

// column describes a figure in tables of benchmark results.
type column struct {
	name     string
	decimals int
	// Whether the table also shows the smallest and the largest round.
	spread bool
}

// columns lists the figures of result tables in order. A column that no variant measured is left out.
var columns = []column{
	{"p50 ms", 1, true}, {"p99 ms", 1, true}, {"late ms", 1, false},
	{"rate", 0, true}, {"CPU", 3, true}, {"http", 3, false}, {"dispatcher", 3, true}, {"postgres", 3, false},
	{"redis", 3, false}, {"receiver", 3, false}, {"generator", 3, false},
	{"WAL B", 0, false}, {"commits", 3, true}, {"redis cmd", 1, false},
	{"http MB", 0, false}, {"disp MB", 0, false}, {"others %", 0, false},
}

// board collects the benchmark results of one operation in several variants, round by round.
type board struct {
	operation string
	// The benchmark variants in the order of measurement.
	variants []string
	// The measured values by benchmark variant and name of the figure.
	samples map[string]map[string]sample
	pairs   []pair
}

// pair names two benchmark variants whose medians are compared, as the ratio of the first to the second.
type pair struct{ variant, to string }

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

// median returns the median of a variant's figure over all rounds, with its range in the text.
func (b *board) median(variant, figure string) measured {
	s := b.samples[variant][figure]
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == figure })
	return measured{s.median(), s.show(columns[i].decimals, true)}
}

// ratio returns the ratio of a figure's medians in two variants. Its text has the range of the rounds' ratios.
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

// print writes a table of medians, ranges and ratios of the benchmark variants.
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
	_ = table.Flush() // A failed write only means that the terminal is closed.
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

// sample holds a figure's measurements, one per round.
type sample []float64

// median returns NaN for an empty sample, which misses every target.
func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(s)-1)/2] + sorted[len(s)/2]) / 2
}

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

// results holds a benchmark run's comparisons with targets and its tables.
type results struct {
	// Lines of the final table, each with a target and a figure.
	lines  []string
	missed int
	boards []*board // Result tables of the running benchmark step.
}

type measured struct {
	value float64
	shown string
}

func rounded(n float64) measured { return measured{n, fmt.Sprintf("%.0f", n)} }

// board returns a new table for an operation, printed at the end of the benchmark step.
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

// atLeast and atMost add the comparison of a figure with its bound to the final table. NaN misses its target.
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

// print writes the table of targets. A missed target is no error: machines differ.
func (r *results) print(to io.Writer) {
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	fmt.Fprintf(out, "\ntarget\tbound\tmeasured\tholds?\n%s\n\n%d of %d targets missed\n", strings.Join(r.lines, "\n"),
		r.missed, len(r.lines))
	_ = out.Flush() // A failed write only means that the terminal is closed.
}
