package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/backing"
)

func TestMain(m *testing.M) { os.Exit(backing.RunTests(m)) }

// tested are the options of a run that fits into the tests. Only the deadline bounds times, and generously: other tests
// keep the machine busy.
func tested(t *testing.T) options {
	return options{
		seed: 1, events: 300, faults: 8, hits: 1, rate: 40, nodes: 2, timeout: 2 * time.Second, deadline: 3 * time.Minute,
		short: true, relaxed: true, race: raced, logf: t.Logf,
	}
}

func TestFaults_AShortSeed_LosesNothing(t *testing.T) {
	t.Parallel()
	r, err := runPlan(t.Context(), tested(t), t.TempDir())
	require.NoError(t, err)
	var out strings.Builder
	r.print(&out)
	t.Log(out.String())
	require.Empty(t, r.receipts.violations)
	require.Zero(t, r.tally.lost)
	require.GreaterOrEqual(t, r.tally.accepted, 300)
	require.Len(t, r.hits, 22, "every failpoint but the one that takes a lease to get to")
}

func TestFaults_BrokenVariants_AreCaught(t *testing.T) {
	t.Parallel()
	require.NoError(t, runVariants(t.Context(), tested(t), t.TempDir()))
}
