// Package diagram_test holds docs/deposit.md against the transition table of core/deposit/state.go. With -update, which
// `make generate` sets, it draws the page's Mermaid diagram anew.
package diagram_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

var update = flag.Bool("update", false, "draw the diagram anew")

const path = "../../docs/deposit.md"

// The markers around the diagram in the page.
const (
	begin = "<!-- The diagram is generated from core/deposit/state.go by `make generate`. -->\n"
	end   = "<!-- End of the generated diagram. -->\n"
)

func TestPage_HoldsTheTransitionTable_AndExplainsEachStatus(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	require.True(t, found && closed, "the page holds the two marker lines")
	page := before + begin + "\n```mermaid\n" + draw() + "```\n\n" + end + after
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
		return
	}
	require.Equal(t, page, string(text), "run `make generate`")
	for _, status := range deposit.Statuses {
		_, row, found := strings.Cut(page, "| `"+string(status)+"` |")
		require.True(t, found, "the page does not explain %s", status)
		row, _, _ = strings.Cut(row, "\n")
		require.True(t, status == deposit.Pending || strings.HasSuffix(row, "| `"+string(status.EventName())+"` |"),
			"the event of %s: %s", status, row)
	}
}

func draw() string {
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
