package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMoney_AFewKillsAroundTheProvider_ChargeNobodyTwice(t *testing.T) {
	t.Parallel()
	o, dir := service(t)
	r, found, err := runMoney(t.Context(), o, dir, sound)
	require.NoError(t, err)
	var out strings.Builder
	r.print(&out, found)
	t.Log(out.String())
	require.Empty(t, r.suite.receipts.violations)
	require.Positive(t, found.secured)
	require.Positive(t, found.captured)
}
