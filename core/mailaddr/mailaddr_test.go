package mailaddr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/mailaddr"
)

func TestValid(t *testing.T) {
	for s, want := range map[string]bool{
		"a@b.example": true, "O'Neil+x@mail.co.uk": true, "é@exämple.fr": true,
		"": false, "a": false, "a@b": false, "@b.c": false, "a@b..c": false, "a b@c.de": false, "a@b@c.de": false, "a@b.c\r\nBcc:x": false, "a\x00@b.cd": false, "a@-b.cd": false,
	} {
		require.Equal(t, want, mailaddr.Valid(s), s)
	}
}
