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

// Migration is an SQL file that changes the database's schema.
type Migration struct {
	Number int64
	Name   string
	SQL    string
}

// MigrationProblem is a statement or a migration that the check refuses, with the reason.
type MigrationProblem struct {
	Migration, Statement, Why string
}

func (p MigrationProblem) String() string {
	if p.Statement == "" {
		return p.Migration + ": " + p.Why
	}
	return fmt.Sprintf("%s: %s\n\t%s", p.Migration, p.Statement, p.Why)
}

// CheckMigrations returns the problems of the migrations whose number is above released. all must begin with the
// released ones: they show which CHECKs of NOT NULL are validated. known holds the names of the releases.
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

// up returns a migration without its Down part: only the way forward is checked.
func up(sql string) string {
	sql, _, _ = strings.Cut(sql, "-- +goose Down")
	return sql
}
