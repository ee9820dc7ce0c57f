package partnerapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

var lists = rapid.SampledFrom([]list{accountList, depositList, webhookList, deliveryList})

func cursors() *rapid.Generator[ports.Cursor] {
	return rapid.Custom(func(t *rapid.T) ports.Cursor {
		var c ports.Cursor
		c.At = time.UnixMicro(rapid.Int64().Draw(t, "at")).UTC()
		copy(c.ID[:], rapid.SliceOfN(rapid.Byte(), len(id.ID{}), len(id.ID{})).Draw(t, "id"))
		return c
	})
}

func TestCursor_ReadAgain_IsTheSame_ForItsListOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, of, other := cursors().Draw(t, "cursor"), lists.Draw(t, "list"), lists.Draw(t, "other")
		text := of.cursor(want)
		limit := rapid.IntRange(1, 100).Draw(t, "limit")
		page, err := of.page(&limit, &text)
		require.NoError(t, err)
		require.Equal(t, ports.Page{Limit: limit, Cursor: want}, page)
		if _, err = other.page(&limit, &text); other != of {
			require.ErrorIs(t, err, fault.ErrBadCursor)
		}
	})
}

func TestCursor_Altered_IsRefused(t *testing.T) {
	t.Parallel()
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ \n.é"
	rapid.Check(t, func(t *rapid.T) {
		of := lists.Draw(t, "list")
		text := of.cursor(cursors().Draw(t, "cursor"))
		at := rapid.IntRange(0, len(text)-1).Draw(t, "place")
		with := rapid.SampledFrom([]rune(characters)).Draw(t, "character")
		for _, altered := range []string{
			text[:at] + string(with) + text[at+1:], text[:at] + string(with) + text[at:], text[:at] + text[at+1:], text[:at],
			text + text, "",
		} {
			if _, err := of.page(nil, &altered); altered != text {
				require.ErrorIs(t, err, fault.ErrBadCursor, altered)
			}
		}
	})
}
