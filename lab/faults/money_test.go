package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMoney_AFewKillsAroundTheProvider_ChargeNobodyTwice(t *testing.T) {
	t.Parallel()
	o, dir := service(t)
	r, err := runMoney(t.Context(), o, dir)
	require.NoError(t, err)
	var out strings.Builder
	r.print(&out)
	t.Log(out.String())
	require.Empty(t, r.receipts.violations)
	require.Positive(t, r.found["secured"])
	require.Positive(t, r.found["captured"])
}
