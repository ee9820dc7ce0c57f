// Command diagram draws the life of a deposit as a Mermaid diagram, from the transition table of core/deposit/state.go.
// It replaces the diagram in a Markdown page, between two marker lines. Usage: diagram PAGE.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"partnerdeposits/core/deposit"
)

// The markers around the diagram in the page.
const (
	begin = "<!-- The diagram is generated from core/deposit/state.go by `make generate`. -->\n"
	end   = "<!-- End of the generated diagram. -->\n"
)

var errNoMarkers = errors.New("diagram: the page does not hold the two marker lines")

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	page, err := os.ReadFile(path) //nolint:gosec // the path comes from a go:generate line
	if err != nil {
		return err
	}
	filled, err := fill(string(page))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(filled), 0o644) //nolint:gosec // documentation is readable by everybody
}

// fill replaces the text between the markers with the diagram. Returns errNoMarkers for a page without the markers.
func fill(page string) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", errNoMarkers
	}
	return before + begin + "\n```mermaid\n" + render() + "```\n\n" + end + after, nil
}

func render() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> pending\n")
	for _, from := range deposit.Statuses {
		for _, trigger := range deposit.Triggers {
			if to, err := from.Next(trigger); err == nil {
				fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, trigger)
			}
		}
		if from.Final() {
			fmt.Fprintf(&b, "    %s --> [*]\n", from)
		}
	}
	return b.String()
}
