package oneline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/oneline"
)

func TestValid(t *testing.T) {
	for _, good := range []string{"", "Chalets du Lac", "Søren & Søn", "שלום", "می\u200cخواهم", "東京 旅館", "👩\u200d👩\u200d👧",
		"a <b>"} {
		require.True(t, oneline.Valid(good), "%q", good)
		require.Equal(t, good, oneline.Clean(good))
	}
	for _, bad := range []string{
		"a\nb", "a\r\nBcc: x", "a\tb", "a\x00b", "a\x7f", "a\u0085b", "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b",
		"a\u200eb", "a\u061cb", "a\xff",
	} {
		require.False(t, oneline.Valid(bad), "%q", bad)
		require.True(t, oneline.Valid(oneline.Clean(bad)), "%q", bad)
	}
}

func TestClean_LeavesOneLine(t *testing.T) {
	require.Equal(t, "a  Bcc: x", oneline.Clean("a\r\nBcc: x"))
	require.Equal(t, "evil moc.knab", oneline.Clean("evil\u202emoc.knab"))
}
