package main

import (
	"regexp"
	"slices"
	"strings"
)

// trace has the files of each walk, by the walk's name, in alphabetical order.
type trace map[string][]string

// String is the trace as the kept file has it: a line for each walk, and below it a line for each of its files.
func (t trace) String() string {
	var b strings.Builder
	b.WriteString("# The files whose code ran in each walk of docs/walks.md. `make walks` writes this file.\n")
	for _, w := range walks {
		b.WriteString("\n" + w.name + "\n")
		for _, file := range t[w.name] {
			b.WriteString("\t" + file + "\n")
		}
	}
	return b.String()
}

func parseTrace(kept string) trace {
	t, walk := trace{}, ""
	for line := range strings.Lines(kept) {
		line = strings.TrimSuffix(line, "\n")
		if file, ok := strings.CutPrefix(line, "\t"); ok {
			t[walk] = append(t[walk], file)
		} else {
			walk = line
		}
	}
	return t
}

// helpers are packages that serve all requests alike: ids, amounts, errors, secrets, log, metrics, traces, the wiring,
// the frame of requests and pages, and the encodings and generated statements of Postgres.
var helpers = []string{
	"adapters/http/middleware", "adapters/http/problem", "adapters/http/ui", "adapters/metrics",
	"adapters/postgres/accounts/internal/sqlc", "adapters/postgres/codec", "adapters/postgres/deposits/internal/sqlc",
	"adapters/postgres/internal/pg", "adapters/postgres/partners/internal/sqlc",
	"adapters/postgres/payments/internal/sqlc",
	"adapters/postgres/platform/internal/sqlc", "adapters/postgres/webhooks/internal/sqlc", "adapters/secrets",
	"adapters/system", "process/run", "process/wire", "core/fault", "core/id", "core/money", "core/oneline", "core/secret",
	"ports/accounts", "ports/deposits", "ports/partners", "ports/payments", "ports/platform", "ports/platform/failpoint",
	"ports/platform/outage", "ports/webhooks",
}

// house matches the files of the service in a profile of coverage, up to the position of a block and its counter. The
// laboratory is no part of the service.
var house = regexp.MustCompile(`(?m)^partnerdeposits/((?:adapters|app|cmd|core|ports)/\S+\.go):(\S+) \d+ ([1-9]\d*)$`)

// block is a piece of code without branches.
type block struct{ file, place string }

// ranIn gives the blocks of a profile that ran.
func ranIn(profile string) map[block]bool {
	ran := map[block]bool{}
	for _, m := range house.FindAllStringSubmatch(profile, -1) {
		ran[block{m[1], m[2]}] = true
	}
	return ran
}

// filesOf gives the files with a block that belongs to the walk: a block that ran in most rounds of the walk, and in no
// time without a request. A job that happens to fall into a round therefore adds nothing. A page is named by its
// template.
func filesOf(walked []map[block]bool, idle map[block]bool) (files []string) {
	count := map[block]int{}
	for _, ran := range walked {
		for b := range ran {
			if !idle[b] {
				count[b]++
			}
		}
	}
	for b, n := range count {
		file := b.file
		if page, ok := strings.CutSuffix(file, "_templ.go"); ok {
			file = page + ".templ"
		}
		if 2*n > len(walked) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}
