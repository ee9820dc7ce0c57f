package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
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

// binaries holds the commands and their variants, which the tests share.
var binaries = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "faults"); err != nil {
		return dir, err
	}
	backing.AtExit(func() { _ = os.RemoveAll(dir) })
	return dir, build(context.Background(), options{race: raced}, dir)
})

func built(t *testing.T) string {
	t.Helper()
	dir, err := binaries()
	require.NoError(t, err)
	return dir
}

func TestFaults_AShortSeed_LosesNothing(t *testing.T) {
	t.Parallel()
	r, err := runPlan(t.Context(), tested(t), built(t))
	require.NoError(t, err)
	var out strings.Builder
	r.print(&out)
	t.Log(out.String())
	require.Empty(t, r.receipts.violations)
	require.Zero(t, r.tally.lost)
	require.GreaterOrEqual(t, r.tally.accepted, 300)
	require.GreaterOrEqual(t, r.tally.mails[answeredMails], 20)
	require.Positive(t, r.tally.mails[secondCopies], "a kill at mail.taken makes a second copy")
	require.GreaterOrEqual(t, r.tally.followed, r.tally.accepted, "each change is in a feed")
	require.Len(t, r.hits, 25, "every failpoint but the one that takes a lease to get to")
}

func TestFaults_BrokenVariants_AreCaught(t *testing.T) {
	t.Parallel()
	require.NoError(t, runVariants(t.Context(), tested(t), built(t)))
}

func TestFaults_BrokenFeeds_AreCaught(t *testing.T) {
	t.Parallel()
	require.NoError(t, runFeedVariants(t.Context(), tested(t), built(t)))
}

func TestFaults_ARestore_IsNoticedByEveryFollower(t *testing.T) {
	t.Parallel()
	require.NoError(t, runRestore(t.Context(), tested(t), built(t)))
}
