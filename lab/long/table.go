package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// The results of a part.
const (
	green    = "green"
	red      = "RED"
	notQuiet = "NOT QUIET" // the machine had something else to do: the part was not run, or its figures say nothing
)

// row is the outcome of a part.
type row struct {
	part, result string
	took         time.Duration
	use          use
	figures      []string
}

func (r row) String() string {
	figures := strings.Join(r.figures, "\n"+strings.Repeat(" ", 84))
	return fmt.Sprintf("%-17s %-9s %6.1f min  %-42s  %s\n", r.part, r.result, r.took.Minutes(), r.use, figures)
}

type table struct {
	began time.Time
	built time.Duration

	mu   sync.Mutex
	rows []row
}

// write prints the table, and returns errRed unless every chosen part is green.
func (t *table) write(chosen []part) error {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%-17s %-9s %6.1f min\n", "build", "", t.built.Minutes())
	greens := 0
	for _, r := range t.rows {
		out.WriteString(r.String())
		if r.result == green {
			greens++
		}
	}
	took := time.Since(t.began).Minutes()
	fmt.Fprintf(&out, "%-17s %-9s %6.1f min  %d of %d parts are green\n", "all", "", took, greens, len(chosen))
	fmt.Print(out.String())
	err := os.WriteFile(filepath.Join(logs, "table.txt"), []byte(out.String()), 0o644)
	if greens < len(chosen) {
		err = errors.Join(err, errRed)
	}
	return err
}

var figure = regexp.MustCompile(`(?m)\bfigure: (.+)$`)

// figures finds the figures in a log: the rest of each line that has "figure: ". Each part prints some.
func figures(log string) (found []string) {
	text, err := os.ReadFile(log)
	if err != nil {
		return []string{err.Error()}
	}
	for _, m := range figure.FindAllStringSubmatch(string(text), -1) {
		found = append(found, m[1])
	}
	return found
}
