package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
)

// library is the extension of Postgres that counts statements.
const library = "pg_stat_statements"

// statements adds up what each statement costs Postgres, by variant. It counts nothing unless Postgres was started with
// the library: -postgres shared_preload_libraries=pg_stat_statements.
type statements struct {
	w        *workbench
	on       bool
	round    []statement
	variants []string
	rounds   map[string][]statement // of all rounds of a variant
}

// statement is the cost of a statement for an event.
type statement struct {
	text      string
	ms, calls float64
}

func newStatements(ctx context.Context, w *workbench, o options) *statements {
	s := &statements{w: w, on: strings.Contains(o.postgres, library), rounds: map[string][]statement{}}
	if s.on {
		for _, site := range w.sites {
			must(site.Pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS `+library))
		}
	}
	return s
}

// begin forgets the statements so far.
func (s *statements) begin(ctx context.Context) {
	if s.on {
		must(s.w.Pool.Exec(ctx, `SELECT pg_stat_statements_reset()`))
	}
}

// end reads the statements since begin, in which n events were delivered.
func (s *statements) end(ctx context.Context, n int) {
	if !s.on {
		return
	}
	rows := must(s.w.Pool.Query(ctx, `
		SELECT regexp_replace(query, '\s+', ' ', 'g'), total_exec_time / $1, calls / $1::float8
		FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid AND d.datname = current_database()
		WHERE query NOT LIKE '%pg_stat_%'`, float64(n)))
	s.round = must(pgx.CollectRows(rows, func(row pgx.CollectableRow) (t statement, err error) {
		err = row.Scan(&t.text, &t.ms, &t.calls)
		return t, err
	}))
}

// add keeps the statements of the round.
func (s *statements) add(variant string) {
	if !slices.Contains(s.variants, variant) {
		s.variants = append(s.variants, variant)
	}
	s.rounds[variant] = append(s.rounds[variant], s.round...)
}

// print writes the costliest statements of each variant: microseconds of execution and calls for an event, as means of
// the rounds.
func (s *statements) print(rounds int) {
	if !s.on {
		return
	}
	const most, width = 16, 90
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, v := range s.variants {
		fmt.Fprintf(out, "\n%s\tµs\tcalls\n", v)
		sums := map[string]statement{}
		for _, t := range s.rounds[v] {
			sum := sums[t.text]
			sums[t.text] = statement{t.text, sum.ms + t.ms, sum.calls + t.calls}
		}
		var sorted []statement
		for _, t := range sums {
			sorted = append(sorted, t)
		}
		slices.SortFunc(sorted, func(a, b statement) int { return int(1e6 * (b.ms - a.ms)) })
		for _, t := range sorted[:min(len(sorted), most)] {
			n := float64(rounds)
			fmt.Fprintf(out, "%.*s\t%.1f\t%.3f\n", width, t.text, 1000*t.ms/n, t.calls/n)
		}
	}
	_ = out.Flush() // fails when the terminal is gone
}
