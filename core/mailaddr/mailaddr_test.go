package mailaddr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/mailaddr"
)

func TestNormal_FoldsASCIILettersOnly(t *testing.T) {
	for s, want := range map[string]string{
		"Ann@B.Example": "ann@b.example", "AZaz09@x.Y": "azaz09@x.y",
		"\u212aELVIN@b.example": "\u212aelvin@b.example", // the Kelvin sign, which Unicode folds to k
		"vict\u0130m@b.example": "vict\u0130m@b.example", // I with a dot, which Unicode folds to i and a dot
		"\u00c9@b.example":      "\u00c9@b.example",
	} {
		require.Equal(t, want, mailaddr.Normalized(s))
	}
}

func TestMasked_KeepsTheFirstLetterAndTheDomain(t *testing.T) {
	for s, want := range map[string]string{"lea@chalets.example": "l…@chalets.example", "a@b.example": "a…@b.example",
		"é@exämple.fr": "é…@exämple.fr", "@b.example": "…", "none": "…", "": "…"} {
		require.Equal(t, want, mailaddr.Masked(s))
	}
}

func TestValid(t *testing.T) {
	for s, want := range map[string]bool{
		"a@b.example": true, "O'Neil+x@mail.co.uk": true, "é@exämple.fr": true,
		"": false, "a": false, "a@b": false, "@b.c": false, "a@b..c": false, "a b@c.de": false, "a@b@c.de": false,
		"a@b.c\r\nBcc:x": false, "a\x00@b.cd": false, "a@-b.cd": false,
		"a\u202e@b.cd": false, "a\u200b@b.cd": false, "a@b.cd\u2028": false, "a\u00a0@b.cd": false, "a\u0085@b.cd": false,
		"\ufeffa@b.cd": false, "a@b-.cd": false, "a<b@c.de": false,
		strings.Repeat("a", 64) + "@b.cd": true, strings.Repeat("a", 65) + "@b.cd": false,
		"a@" + strings.Repeat("b", 63) + ".cd": true, "a@" + strings.Repeat("b", 64) + ".cd": false,
		"a@" + strings.Repeat("b.", 125) + "cd": true, "aa@" + strings.Repeat("b.", 125) + "cd": false, // 254 bytes, and 255
	} {
		require.Equal(t, want, mailaddr.Valid(s), s)
	}
}

func TestMailbox_IsTheSameForEveryWritingOfIt(t *testing.T) {
	t.Parallel()
	for mailbox, writings := range map[string][]string{
		"ann@b.example":      {"ann@b.example", "Ann@B.Example", "ann+x@b.example", "ann+@b.example", "ann+x+y@b.example"},
		"a.nn@b.example":     {"a.nn@b.example", "A.nn+1@b.example"},
		"ann@gmail.com":      {"ann@gmail.com", "a.n.n@gmail.com", "Ann+x.y@googlemail.com"},
		"+x@b.example":       {"+x@b.example"}, // no name before the tag
		"ann@bücher.example": {"ann@BÜCHER.example"},
	} {
		for _, w := range writings {
			require.Equal(t, mailbox, mailaddr.CanonicalMailbox(w), w)
		}
	}
}
