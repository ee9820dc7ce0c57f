//go:build long

package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLong_RollingRestart_FailsLosesAndRepeatsNothing restarts every process in turn behind haproxy, which asks /readyz
// once a second and repeats no request, under 300 requests a second (operations.md, "Processes").
func TestLong_RollingRestart_FailsLosesAndRepeatsNothing(t *testing.T) {
	w := newWorld(t, rolling...)
	f := w.fleet(t)
	r := newReceiver(t)
	w.subscribe(t, r, "deposit.activated")
	account := w.link(t, "villa-16")
	f.behindProxy(t)

	load := w.load(account)
	f.roll(t, load, 300, nil)
	done, failures, took := load.end()
	rate := float64(2*len(done)) / took.Seconds()
	t.Logf("figure: %d of %d operations failed in %.0f s, %.0f requests a second", len(failures), len(failures)+len(done),
		took.Seconds(), rate)
	require.Empty(t, failures)
	require.Greater(t, rate, 250.0, "the machine was too busy to send 300 requests a second")
	f.requireOnce(t, r, events(done, "deposit.activated"))
}
