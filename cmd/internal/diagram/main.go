// Command diagram writes the life of a deposit as a Mermaid diagram, from the table that the service runs on.
// Usage: diagram FILE.
package main

import (
	"fmt"
	"os"
	"strings"

	"partnerdeposits/core/deposit"
)

func main() {
	if err := os.WriteFile(os.Args[1], []byte(render()), 0o644); err != nil { //nolint:gosec // documentation is for everyone
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render() string {
	var b strings.Builder
	b.WriteString("%% Generated from core/deposit/state.go by `make generate`.\nstateDiagram-v2\n    [*] --> pending\n")
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
