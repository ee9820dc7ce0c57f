package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/load"
)

func TestSubscriptionURLs_TheFirstPartnersHang(t *testing.T) {
	t.Parallel()
	w := &workbench{sink: "http://127.0.0.1:8"}
	v := variant{site: &site{}, partners: 30, subscriptions: 2, hanging: 1, conns: 32}

	require.Equal(t, []string{"http://127.0.1.1:8/hang"}, w.subscriptionURLs(v, 0))
	require.Equal(t, []string{"http://127.0.1.2:8/0", "http://127.0.1.2:8/1"}, w.subscriptionURLs(v, 1))
	require.Equal(t, "keyless, 30 partners, 2 subscriptions, 32 connections, 1 hang", v.String())
}

func TestWithLatency_AddsTheTimes(t *testing.T) {
	t.Parallel()
	times, late := load.NewTimes(), load.NewTimes()
	for _, ms := range []time.Duration{3, 1, 2} {
		times.Add(ms * time.Millisecond)
		late.Add(ms * 500 * time.Microsecond)
	}
	f := figures{"CPU": 6}.withLatency(times, late)
	for _, name := range []string{"p50 ms", "p99 ms", "max ms", "late ms"} {
		f[name] = math.Round(f[name]*100) / 100 // exact to a thousandth
	}
	require.Equal(t, figures{"CPU": 6, "CPU ms": 6, "p50 ms": 2, "p99 ms": 3, "max ms": 3, "late ms": 1.5}, f)
}
