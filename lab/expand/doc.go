// Package expand refuses migrations that a running binary of the last release would not survive, or that hold a lock
// while they read or write a large table (docs/guides/adding.md, ADR 0041).
//
// A statement is fine if the check knows its form as safe, so an unknown statement is refused as well. Two kinds of
// refusals exist:
//
//   - breaks: the last release may need what the statement takes away. The line
//     "-- contract: <what> unused since <release>" in the migration allows them.
//   - blocks: requests would wait, or the statement would fail on rows that exist. Nothing allows them, since each has
//     another form.
package expand

import (
	"fmt"
	"strings"
)

type Migration struct {
	Number int64
	Name   string
	SQL    string
}

// MigrationProblem is a refused statement or migration, with the reason.
type MigrationProblem struct {
	Migration, Statement, Why string
}

func (p MigrationProblem) String() string {
	if p.Statement == "" {
		return p.Migration + ": " + p.Why
	}
	return fmt.Sprintf("%s: %s\n\t%s", p.Migration, p.Statement, p.Why)
}

// CheckMigrations returns the problems of the migrations above released. all begins with the released ones, which
// validate CHECKs of NOT NULL; known names the releases.
func CheckMigrations(all []Migration, released int64, known []string) (problems []MigrationProblem) {
	seen := history{notNull: map[string]string{}, validated: map[string]bool{}, parted: map[string]bool{}}
	for _, m := range all {
		r := newReview(m, seen)
		r.run(known)
		if m.Number > released {
			problems = append(problems, r.problems...)
		}
	}
	return problems
}

// up returns a migration without its Down part.
func up(sql string) string {
	sql, _, _ = strings.Cut(sql, "-- +goose Down")
	return sql
}
