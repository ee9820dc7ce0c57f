//go:build long

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLong_Payments_ThreeHundredKillsAroundTheProvider(t *testing.T) {
	o, dir := tested(t)
	o.hits = 10
	r, err := runMoney(t.Context(), o, dir)
	require.NoError(t, err)
	r.print(t.Output())
	t.Logf("figure: %d kills at %d failpoints; %v", r.killed(), len(r.hits), r.found)
	require.Empty(t, r.receipts.violations)
	require.GreaterOrEqual(t, r.killed(), 300)
	for _, what := range []string{"fee succeeded", "refunded", "collection succeeded"} {
		require.Positive(t, r.found[what], what)
	}
}

func TestLong_BrokenVariants_AreCaught(t *testing.T) {
	o, dir := tested(t)
	require.NoError(t, runVariants(t.Context(), o, dir))
	require.NoError(t, tryAll(t.Context(), o, dir, feedVariants, 1, tryFeed))
	t.Logf("figure: all of %d broken variants are caught", len(variants)+len(feedVariants))
}
