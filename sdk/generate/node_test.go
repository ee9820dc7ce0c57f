package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNode_TakesDatesAndAmountsInRequests_AndGivesTextInAnswers(t *testing.T) {
	t.Parallel()
	files, err := node(readDocument(t))
	require.NoError(t, err)
	types := string(files["node/src/api.gen.d.ts"])
	request, answer := declaration(t, types, "CreateDepositRequest"), declaration(t, types, "Deposit")
	require.Contains(t, request, "  amount: Euros;\n")
	require.Contains(t, request, "  contractStartAt: string | Date;\n")
	require.Contains(t, answer, "  amount: string;\n")
	require.Contains(t, answer, "  contractStartAt: string;\n")
	require.Contains(t, declaration(t, types, "SimulateDepositRequest"), "outcome: 'start' |")
	require.Contains(t, declaration(t, types, "LinkMail"), "status: 'queued' | Other;", "an answer may get new values")
}

// declaration gives the text of an interface.
func declaration(t *testing.T, types, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(types, "\nexport interface "+name+" {\n")
	require.True(t, found, name)
	text, _, _ := strings.Cut(rest, "\n}\n")
	return text
}

func TestNodeDoc_FillsParagraphsAndKeepsListsAndEndsNoComment(t *testing.T) {
	t.Parallel()
	require.Empty(t, nodeDoc("", " \n"))
	require.Equal(t, "  /** One line. */\n", nodeDoc("  ", "One\nline."))
	list := nodeDoc("", "Paths */.\n\nTwo:\n- one\n- two")
	require.Equal(t, "/**\n * Paths * /.\n *\n * Two:\n * - one\n * - two\n */\n", list)
	for line := range strings.SplitSeq(nodeDoc("  ", strings.Repeat("word ", 60)), "\n") {
		require.LessOrEqual(t, len(line), 120)
	}
}
