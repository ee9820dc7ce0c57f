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

// Builds of the commands, which the tests share.
var (
	checked  = sync.OnceValues(func() (string, error) { return buildOnce(raced) })
	ordinary = sync.OnceValues(func() (string, error) { return buildOnce(false) })
)

func buildOnce(race bool) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "faults"); err != nil {
		return dir, err
	}
	backing.AtExit(func() { _ = os.RemoveAll(dir) })
	return dir, build(context.Background(), options{race: race}, dir)
}

// service prepares a run of the service as it is.
func service(t *testing.T) (options, string) {
	t.Helper()
	dir, err := checked()
	require.NoError(t, err)
	return tested(t), dir
}

// teeth prepares a run of broken variants. The run judges the audit, and the race detector has nothing to find in it.
func teeth(t *testing.T) (options, string) {
	t.Helper()
	dir, err := ordinary()
	require.NoError(t, err)
	o := tested(t)
	o.race = false
	return o, dir
}

func TestFaults_AShortSeed_LosesNothing(t *testing.T) {
	t.Parallel()
	o, dir := service(t)
	r, err := runPlan(t.Context(), o, dir)
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
	o, dir := teeth(t)
	require.NoError(t, runVariants(t.Context(), o, dir))
}

func TestFaults_BrokenFeeds_AreCaught(t *testing.T) {
	t.Parallel()
	o, dir := teeth(t)
	require.NoError(t, runFeedVariants(t.Context(), o, dir))
}

func TestFaults_ARestore_IsNoticedByEveryFollower(t *testing.T) {
	t.Parallel()
	o, dir := service(t)
	require.NoError(t, runRestore(t.Context(), o, dir))
}
