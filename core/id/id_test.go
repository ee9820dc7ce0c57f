package id_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/id"
)

func TestPrefix_OfThenParse_GivesTheIDBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b id.ID
		copy(a[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "a"))
		copy(b[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "b"))
		a[15] |= 1 // the zero id stands for no id and is never parsed
		got, ok := id.Deposit.Parse(id.Deposit.Of(a))
		if !ok || got != a {
			t.Fatalf("%v came back as %v, %v", a, got, ok)
		}
		if (string(a[:]) < string(b[:])) != (a.Encode() < b.Encode()) {
			t.Fatalf("order of %v and %v is not kept", a, b)
		}
	})
}

func TestParse_WhatWasNeverGivenOut_IsUnknown(t *testing.T) {
	good := id.Deposit.Of(id.ID{0x01, 0x8f, 15: 9})
	for _, s := range []string{"", "dep_", good[:len(good)-1], good + "0", "acct_" + good[4:], "dep-" + good[4:],
		"dep_8" + good[5:], "dep_" + good[4:len(good)-1] + "u", "dep_" + good[4:len(good)-1] + "U",
		"dep_00000000000000000000000000"} {
		_, ok := id.Deposit.Parse(s)
		require.False(t, ok, "%q", s)
	}
	_, ok := id.Deposit.Parse(good)
	require.True(t, ok)
	require.Len(t, good, 30)
	last := id.Deposit.Of(id.ID{0xff, 15: 1})
	require.Equal(t, "dep_7", last[:5], "of the largest ids")
	_, ok = id.Deposit.Parse(last)
	require.True(t, ok)
}

func TestString_IsTheUUIDForm(t *testing.T) {
	require.Equal(t, "018f0a2b-3c4d-7e5f-8091-a2b3c4d5e6f7",
		id.ID{0x01, 0x8f, 0x0a, 0x2b, 0x3c, 0x4d, 0x7e, 0x5f, 0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7}.String())
}

func TestOfOrNil_OfNone_IsNil(t *testing.T) {
	require.Nil(t, id.Client.FormatOrNil(id.ID{}))
	require.NotNil(t, id.Client.FormatOrNil(id.ID{1}))
}
