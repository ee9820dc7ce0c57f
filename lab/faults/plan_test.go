package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func namesOf(rounds []fault) (names []string) {
	for _, r := range rounds {
		names = append(names, r.name)
	}
	return names
}

func TestPlan_IsDecidedByTheSeed(t *testing.T) {
	t.Parallel()
	o := options{seed: 7, faults: 90, hits: 20}
	require.Equal(t, namesOf(plan(o)), namesOf(plan(o)))
	other := o
	other.seed = 8
	require.NotEqual(t, namesOf(plan(o)), namesOf(plan(other)))
}

func TestPlan_OfALongRun_HasEveryFault(t *testing.T) {
	t.Parallel()
	o := options{seed: 7, faults: 90, hits: 20}
	total, seen := 0, map[string]int{}
	for _, r := range plan(o) {
		total += max(1, r.storm)
		seen[r.name]++
	}
	require.GreaterOrEqual(t, total, 200)
	for _, k := range kinds {
		require.GreaterOrEqual(t, seen[k.name], 2, k.name)
	}
	require.GreaterOrEqual(t, len(points), 12)
	require.Len(t, wanted(o), 20*len(points))
}

func TestMissing_IsWhatWasNotHitOftenEnough(t *testing.T) {
	t.Parallel()
	w := &suite{o: options{hits: 3}, hits: map[string]int{}}
	require.Len(t, w.missing(wanted(w.o)), 3*len(points))
	for _, p := range points {
		for range 3 {
			w.hits[p.label()]++
		}
	}
	require.Empty(t, w.missing(wanted(w.o)))
	w.hits["dispatcher: relay.taken"] = 1
	require.Len(t, w.missing(wanted(w.o)), 2)
}

func TestManners_ChooseInTheirShares(t *testing.T) {
	t.Parallel()
	seen := map[behaviour]int{}
	dice := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		seen[hostile.choose(dice)]++
	}
	for way, percent := range hostile {
		require.InDelta(t, percent*1000, seen[way], 400, way)
	}
	require.Greater(t, seen[takes], 50_000)
}
