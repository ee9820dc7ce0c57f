package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
)

func TestMain(m *testing.M) { os.Exit(backing.RunTests(m)) }

// tested gives the options of a run that fits into the tests, and the folder of the built commands. Only the deadline
// bounds times, and generously: other tests keep the machine busy.
func tested(t *testing.T) (options, string) {
	t.Helper()
	o := options{seed: 1, events: 300, faults: 5, hits: 1, rate: 40, nodes: 2, deadline: 3 * time.Minute,
		short: true, relaxed: true, race: raced, logf: t.Logf}
	dir := t.TempDir()
	require.NoError(t, build(context.WithoutCancel(t.Context()), o, dir))
	return o, dir
}

func TestFaults_AShortSeed_LosesNothing(t *testing.T) {
	t.Parallel()
	o, dir := tested(t)
	o.nodes = 1 // of each kind: every failpoint is reached at once
	o.only = "cut off|Postgres is killed|SIGSTOP of a dispatcher for a moment|FLUSHALL with jobs"
	r, err := runPlan(t.Context(), o, dir)
	require.NoError(t, err)
	r.print(t.Output())
	require.Empty(t, r.receipts.violations)
	require.Zero(t, r.tally.lost)
	require.GreaterOrEqual(t, r.tally.accepted, o.events)
	require.GreaterOrEqual(t, r.tally.followed, r.tally.accepted, "each change is in a feed")
	require.Len(t, r.hits, len(points)-1, "every failpoint but the one that takes a lease to get to")
	played := map[string]bool{}
	for _, x := range r.results {
		played[x.name] = true
	}
	require.GreaterOrEqual(t, len(played), o.faults+3, "three storms of kills, and each fault")
}
