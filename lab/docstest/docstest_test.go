package docstest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const page = "# Title\n\n## First (more)\ntext\n\n| a | b |\n|---|---|\n| `x|y` | one |\n| z | `two` |\n\n| other |\n|---|\n| no |\n\n### Deeper\nstill first\n\n" +
	"```\n# a comment\n```\n## Second\nelse\n"

func TestSection_EndsAtTheNextHeadingOfItsLevel(t *testing.T) {
	text, ok := section(page, "First")
	require.True(t, ok)
	require.Contains(t, text, "still first")
	require.Contains(t, text, "# a comment")
	require.NotContains(t, text, "else")
	_, ok = section(page, "Third")
	require.False(t, ok)
}

func TestRows_ReadsTheFirstTableOnly(t *testing.T) {
	text, _ := section(page, "First")
	require.Equal(t, [][]string{{"`x|y`", "one"}, {"z", "`two`"}}, rows(text))
	require.Empty(t, rows("no table"))
}

func TestCodes(t *testing.T) {
	require.Equal(t, []string{"a b", "c"}, Codes("text `a b` and `c`"))
	require.Empty(t, Codes("text"))
}
