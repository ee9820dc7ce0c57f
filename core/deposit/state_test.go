package deposit_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
)

var update = flag.Bool("update", false, "write golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got))
}

func TestTransitions_EveryPair(t *testing.T) {
	var b strings.Builder
	for _, from := range deposit.Statuses {
		for _, trigger := range deposit.Triggers {
			to, err := from.Next(trigger)
			if err != nil {
				fmt.Fprintf(&b, "%-14s %-17s refused %s\n", from, trigger, fault.FromError(err).Code)
				continue
			}
			fmt.Fprintf(&b, "%-14s %-17s → %-14s %s\n", from, trigger, to, to.EventName())
		}
	}
	golden(t, "transitions.golden", b.String())
}

func TestAllows_WhatApplyDoes_AndChangesNothing(t *testing.T) {
	for _, status := range deposit.Statuses {
		for _, trigger := range deposit.Triggers {
			for name, left := range map[string]time.Duration{"before the end": 1, "at the end": 0, "after the end": -1} {
				d := sample()
				d.Status, d.ExpiresAt = status, start.Add(left)
				before := *d
				allowed := d.CheckTrigger(trigger, start)
				require.Equal(t, before, *d, "a question changes nothing")
				_, err := d.ApplyTrigger(trigger, deposit.DefaultTimerDurations(), start)
				require.Equal(t, err, allowed, "%s by %s, %s", status, trigger, name)
			}
		}
	}
}

func TestAllows_AClaim_OnlyBeforeTheCoverEnds(t *testing.T) {
	d := sample()
	d.Status, d.ExpiresAt = deposit.Active, start
	require.NoError(t, d.CheckTrigger(deposit.TriggerCaptureRequested, start.Add(-time.Nanosecond)))
	require.ErrorIs(t, d.CheckTrigger(deposit.TriggerCaptureRequested, start), deposit.ErrNotCapturable)
	require.NoError(t, d.CheckTrigger(deposit.TriggerReleased, start), "a cover that nothing has closed yet can be released")
}

func TestApply_AnyWalk_KeepsTheInvariants(t *testing.T) {
	timers := deposit.DefaultTimerDurations()
	rapid.Check(t, func(t *rapid.T) {
		now := start
		d := sample()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40*24).Draw(t, "hours")) * time.Hour)
			before := *d
			trigger := rapid.SampledFrom(deposit.Triggers).Draw(t, "trigger")
			step, err := d.ApplyTrigger(trigger, timers, now)
			if err != nil {
				require.Equal(t, before, *d, "a refused step changes nothing")
				continue
			}
			require.False(t, before.Status.Final(), "final stays final")
			require.Equal(t, before.Version+1, d.Version)
			require.Equal(t, step.Version, d.Version)
			require.Equal(t, d.Status == deposit.Active || d.Status == deposit.Closed || d.Status == deposit.Captured,
				!d.ActivatedAt.IsZero())
			require.Equal(t, d.Status == deposit.Cancelled, !d.CancelledAt.IsZero())
			if !d.ExpiresAt.IsZero() {
				require.False(t, d.ExpiresAt.After(d.ActivatedAt.Add(timers.CoverMax)), "60 days at most")
			}
		}
	})
}

func TestTriggers_HaveTheirUsualActor(t *testing.T) {
	for trigger, kind := range map[deposit.Trigger]actor.Kind{
		deposit.TriggerSecured: "tenant", deposit.TriggerFeeFailed: "tenant", deposit.TriggerTenantDeclined: "tenant",
		deposit.TriggerTenantAbandoned:    "tenant",
		deposit.TriggerCancelledByPartner: "partner", deposit.TriggerCancelledByOperator: "operator",
		deposit.TriggerReleased:         "operator",
		deposit.TriggerCaptureRequested: "operator",
		deposit.TriggerCheckoutIdle:     "scheduler", deposit.TriggerCheckoutExpired: "scheduler",
		deposit.TriggerCoverElapsed: "scheduler",
	} {
		require.Equal(t, kind, trigger.ActorKind(), trigger)
	}
}

func TestKnown_IsEveryStatusOfTheList(t *testing.T) {
	for _, s := range deposit.Statuses {
		require.True(t, s.Known(), s)
	}
	require.False(t, deposit.Status("").Known())
	require.False(t, deposit.Status("closed").Known(), "the API's word is close")
}
