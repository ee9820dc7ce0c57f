package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// whole is a run that meets every target, some of them exactly.
func whole() *results {
	return &results{
		floors:       &floors{posts: 30_000, jobs: 10_000},
		throughput:   &throughput{rate: sample{3400, 3500, 9000}, cpu: sample{0.5, 0.4, 0.6}},
		latency:      &latency{p50: 15, p99: 40},
		isolation:    &isolation{p99: versus{{10, 20}, {17, 19}}, rate: versus{{2000, 4000}, {2700, 2700}}},
		hostility:    &hostility{p99: versus{{10}, {12}}, mem: 149},
		backlogs:     []backlog{{10, sample{5000}, sample{0.38, 0.42}}, {100, sample{3000, 5000}, sample{0.46}}, {1000, sample{4500}, sample{0.42}}},
		dispatcherMB: 149, redisMB: 49,
	}
}

func missed(r *results) (targets []string) {
	for _, l := range r.lines() {
		if !l.holds {
			targets = append(targets, l.target)
		}
	}
	return targets
}

func TestLines_OfAWholeRun_ListEveryTarget(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range whole().lines() {
		got = append(got, l.target+" | "+l.measured)
	}
	require.Empty(t, cmp.Diff([]string{
		"end to end ≥ 3000/s (aim 4000) | 3500/s",
		"end to end ≥ 0.35 of the asynq floor | 0.35 of 10000/s",
		"CPU s per 1,000 ≤ 0.5 (aim 0.4) | 0.500",
		"at 20 events/s p50 ≤ 15 ms | 15.0 ms",
		"at 20 events/s p99 ≤ 40 ms | 40.0 ms",
		"a fifth hangs: healthy p99 ≤ 1.2× | 1.20×: 18 against 15 ms",
		"a fifth hangs: healthy rate ≥ 0.9× | 0.90×: 2700 against 3000 /s",
		"20 hostile: good p99 ≤ 1.2× | 1.20×: 12 against 10 ms",
		"20 hostile: dispatcher < 150 MB | 149 MB",
		"draining ≥ 4000/s | 4000/s, the slowest",
		"CPU per delivery within 15 % over backlogs | 15 %",
		"dispatcher < 150 MB | 149 MB",
		"Redis < 50 MB | 49 MB",
	}, got))
	require.Empty(t, missed(whole()))
}

func TestLines_BeyondATarget_SayWhichIsMissed(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*results){
		"end to end ≥ 3000/s (aim 4000)":             func(r *results) { r.throughput.rate, r.floors.jobs = sample{2999}, 8000 },
		"end to end ≥ 0.35 of the asynq floor":       func(r *results) { r.floors.jobs = 10_100 },
		"CPU s per 1,000 ≤ 0.5 (aim 0.4)":            func(r *results) { r.throughput.cpu = sample{0.51} },
		"at 20 events/s p50 ≤ 15 ms":                 func(r *results) { r.latency.p50 = 15.1 },
		"at 20 events/s p99 ≤ 40 ms":                 func(r *results) { r.latency.p99 = 40.1 },
		"a fifth hangs: healthy p99 ≤ 1.2×":          func(r *results) { r.isolation.p99.add(true, 21) },
		"a fifth hangs: healthy rate ≥ 0.9×":         func(r *results) { r.isolation.rate.add(false, 3900) },
		"20 hostile: good p99 ≤ 1.2×":                func(r *results) { r.hostility.p99.add(true, 13) },
		"20 hostile: dispatcher < 150 MB":            func(r *results) { r.hostility.mem = 150 },
		"draining ≥ 4000/s":                          func(r *results) { r.backlogs[1].rate = sample{3999} },
		"CPU per delivery within 15 % over backlogs": func(r *results) { r.backlogs[2].cpu = sample{0.39} },
		"dispatcher < 150 MB":                        func(r *results) { r.dispatcherMB = 150 },
		"Redis < 50 MB":                              func(r *results) { r.redisMB = 50 },
	} {
		r := whole()
		spoil(r)
		require.Equal(t, []string{want}, missed(r))
		var out strings.Builder
		require.NoError(t, r.print(&out))
		require.Regexp(t, want[:8]+".* NO, MISSED\n", out.String())
		require.Contains(t, out.String(), "1 of 13 targets missed\n")
	}
}

func TestLines_OfStepsLeftOut_AreNotThere(t *testing.T) {
	t.Parallel()
	require.Empty(t, (&results{}).lines())
	require.Empty(t, (&results{floors: &floors{jobs: 1}}).lines())
	require.Len(t, (&results{throughput: &throughput{}}).lines(), 4)
	require.Len(t, (&results{backlogs: []backlog{{n: 1}}}).lines(), 3) // a single size cannot be compared
}

func TestMix_CountsWhatTheGoodOneGets(t *testing.T) {
	t.Parallel()
	good, others := testPartner{key: "good"}, []testPartner{{key: "a"}, {key: "b"}}
	for _, m := range []mix{{good, others, 4, 5}, {good, others, 1, 3}} {
		goods := 0
		seen := map[string]int{}
		for n := range 60 {
			require.Equal(t, goods, m.goods(n))
			who := m.whose(n).key
			seen[who]++
			if who == good.key {
				goods++
			}
		}
		require.Equal(t, 60*m.first/m.cycle, seen["good"])
		require.Equal(t, seen["a"], seen["b"])
	}
}

func TestIsolationRate_IsAShareOfTheFullSpeed(t *testing.T) {
	t.Parallel()
	require.Equal(t, 200, isolationRate(nil))
	require.Equal(t, 200, isolationRate(&throughput{rate: sample{100}}))
	require.Equal(t, 600, isolationRate(&throughput{rate: sample{2000}}))
	require.Equal(t, 1000, isolationRate(&throughput{rate: sample{10_000}}))
}

func TestVisits_EachSizeBeforeAndAfterTheLargerOnes(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10_000, 10_000, 10_000, 100_000, 1_000_000, 100_000, 10_000, 10_000, 10_000}, visits([]int{100_000, 10_000, 1_000_000}))
	require.Equal(t, []int{50_000}, visits([]int{50_000}))
	require.Empty(t, visits(nil))
}

func TestMedian(t *testing.T) {
	t.Parallel()
	require.Zero(t, sample(nil).median())
	require.InDelta(t, 2.5, sample{9, 2, 1, 3}.median(), 1e-9)
	require.InDelta(t, 2, sample{9, 2, 1}.median(), 1e-9)
}
