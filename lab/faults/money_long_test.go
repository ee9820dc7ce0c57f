//go:build long

package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longRun is a run with every failpoint, without the race detector.
func longRun(t *testing.T, hits int) options {
	t.Helper()
	return options{seed: 1, hits: hits, rate: 1, nodes: 2, timeout: 2 * time.Second, deadline: 3 * time.Minute,
		relaxed: true, logf: t.Logf}
}

func TestLong_Payments_ThreeHundredKillsAroundTheProvider(t *testing.T) {
	const hits = 10
	dir, o := t.TempDir(), longRun(t, hits)
	require.NoError(t, build(t.Context(), o, dir))
	r, err := runMoney(t.Context(), o, dir)
	require.NoError(t, err)
	var out strings.Builder
	r.print(&out)
	t.Logf("figure: %d kills at %d failpoints; %v\n%s", r.killed(), len(r.hits), r.found, out.String())
	require.Empty(t, r.receipts.violations)
	require.GreaterOrEqual(t, r.killed(), 300)
	require.Positive(t, r.found["refunds"])
}

func TestLong_Payments_BrokenVariantsAreCaught(t *testing.T) {
	dir, err := os.MkdirTemp("", "faults")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o := longRun(t, 1)
	require.NoError(t, build(context.WithoutCancel(t.Context()), o, dir))
	require.NoError(t, runMoneyVariants(t.Context(), o, dir))
	t.Logf("figure: %d of %d broken variants are caught", len(moneyVariants), len(moneyVariants))
}
