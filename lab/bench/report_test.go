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
		floors: &floors{posts: 30_000, jobs: 10_000},
		throughput: &throughput{rate: sample{3400, 3500, 9000}, cpu: sample{0.5, 0.4, 0.6}, keys: &keys{
			rate: ratio{of: 0.75, rounds: sample{0.7, 0.8}}, cpu: ratio{of: 1.3, rounds: sample{1.3}},
		}, full: &ratio{of: 1.15, rounds: sample{1.15}}, httpMB: sample{100}, dispatcherMB: sample{60}},
		counts:       counts{Taken: 60_000},
		quiet:        &quiet{latency: latency{p50: 15, p99: 40}, p50: sample{6, 5, 9}, p99: sample{14}, cpu: sample{6.5}},
		idle:         &idle{dispatcher: sample{1.2}, commits: sample{8}},
		feed:         &feedTimes{p50: sample{20}, p99: sample{40, 200, 50}},
		waiting:      &waitingCost{cpu: sample{9, 10, 11}, httpMB: sample{40}},
		hanging:      &hanging{five: ratio{of: 1.2, rounds: sample{1.2}}},
		isolation:    &isolation{p99: versus{{10, 20}, {17, 19}}, rate: versus{{2000, 4000}, {2700, 2700}}},
		hostility:    &hostility{p99: versus{{10}, {12}}, mem: 149},
		backlogs:     []backlog{{10, sample{5000}, sample{0.38, 0.42}}, {100, sample{3000, 5000}, sample{0.46}}, {1000, sample{4500}, sample{0.42}}},
		dispatcherMB: 149, redisMB: 49,
		redisKeyed: &redisKeyed{calls: 200_000, peak: 50},
		yardstick:  yardstick{posts: map[int]ratio{30: {of: 1.7, rounds: sample{1.5, 1.8}}, 1: {of: 1.6, rounds: sample{1.6}}}, get: &ratio{of: 0.35, rounds: sample{0.35}}},
		lists:      []listTime{{list: "deposits", median: 2}, {list: "deposits, status pending", median: 10}, {list: "delivery log", median: 3}},
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
		"end to end ≥ 3000/s (aim 4000) | 3500 (3400–9000)/s",
		"end to end ≥ 0.35 of the asynq floor | 0.35 of 10000/s",
		"CPU s per 1,000 ≤ 0.5 (aim 0.4) | 0.500 (0.400–0.600)",
		"keyed ÷ keyless, rate ≥ 0.75 (aim 0.85) | 0.75 (0.70–0.80)",
		"keyed ÷ keyless, CPU ≤ 1.3 (aim 1.2) | 1.30 (1.30–1.30)",
		"full ÷ empty database, CPU ≤ 1.15 (aim 1.1) | 1.15 (1.15–1.15)",
		"http ≤ 100 MB under full load | 100 MB",
		"dispatcher ≤ 60 MB under full load | 60 MB",
		"every delivery is signed | 0 of 60000 are not",
		"no delivery arrives twice | 0 of 60000",
		"at 20 events/s p50 ≤ 15 ms | 15.0 ms",
		"at 20 events/s p99 ≤ 40 ms | 40.0 ms",
		"at 20 events/s call → receiver p50 ≤ 6 ms (aim 5) | 6.0 (5.0–9.0) ms",
		"at 20 events/s call → receiver p99 ≤ 14 ms (aim 12) | 14.0 ms",
		"at 20 events/s CPU an event ≤ 6.5 ms (aim 5) | 6.50 ms",
		"at rest dispatcher ≤ 1.2 % of a core (aim 0.5) | 1.20 %",
		"at rest ≤ 8 commits/s (aim 2) | 8.0/s",
		"at 500 events/s commit → waiting follower p99 ≤ 200 ms | 50.0 (40.0–200.0) ms",
		"1000 waiting partners ≤ 10 % of a core | 10.00 (9.00–11.00) %",
		"1000 waiting partners ≤ 40 MB of http | 40 MB",
		"5 of 30 endpoints hang: healthy p99 ≤ 1.2× (aim 1.05) | 1.20 (1.20–1.20)",
		"a fifth hangs: healthy p99 ≤ 1.2× | 1.20×: 18 against 15 ms",
		"a fifth hangs: healthy rate ≥ 0.9× | 0.90×: 2700 against 3000 /s",
		"20 hostile: good p99 ≤ 1.2× | 1.20×: 12 against 10 ms",
		"20 hostile: dispatcher < 150 MB | 149 MB",
		"draining ≥ 4000/s | 4000/s, the slowest",
		"CPU per delivery within 15 % over backlogs | 15 %",
		"dispatcher < 150 MB | 149 MB",
		"Redis < 50 MB | 49 MB",
		"Redis after 200000 keyed calls ≤ 50 MB (aim 30) | 50 MB",
		"POST keyed ÷ pgbench, 1 partner ≥ 1.6 (aim 2) | 1.60 (1.60–1.60)",
		"POST keyed ÷ pgbench, 30 partners ≥ 1.6 (aim 2) | 1.70 (1.50–1.80)",
		"GET ÷ pgbench's SELECT ≥ 0.35 (aim 0.45) | 0.35 (0.35–0.35)",
		"each of 3 lists ≤ 10 ms (aim 3) | 10.0 ms: deposits, status pending",
	}, got))
	require.Empty(t, missed(whole()))
}

func TestLines_BeyondATarget_SayWhichIsMissed(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*results){
		"end to end ≥ 3000/s (aim 4000)":                         func(r *results) { r.throughput.rate, r.floors.jobs = sample{2999}, 8000 },
		"end to end ≥ 0.35 of the asynq floor":                   func(r *results) { r.floors.jobs = 10_100 },
		"CPU s per 1,000 ≤ 0.5 (aim 0.4)":                        func(r *results) { r.throughput.cpu = sample{0.51} },
		"keyed ÷ keyless, rate ≥ 0.75 (aim 0.85)":                func(r *results) { r.throughput.keys.rate.of = 0.74 },
		"keyed ÷ keyless, CPU ≤ 1.3 (aim 1.2)":                   func(r *results) { r.throughput.keys.cpu.of = 1.31 },
		"full ÷ empty database, CPU ≤ 1.15 (aim 1.1)":            func(r *results) { r.throughput.full.of = 1.16 },
		"http ≤ 100 MB under full load":                          func(r *results) { r.throughput.httpMB = sample{101} },
		"dispatcher ≤ 60 MB under full load":                     func(r *results) { r.throughput.dispatcherMB = sample{61} },
		"Redis after 200000 keyed calls ≤ 50 MB (aim 30)":        func(r *results) { r.redisKeyed.peak = 51 },
		"POST keyed ÷ pgbench, 1 partner ≥ 1.6 (aim 2)":          func(r *results) { r.yardstick.posts[1] = ratio{of: 1.59} },
		"POST keyed ÷ pgbench, 30 partners ≥ 1.6 (aim 2)":        func(r *results) { r.yardstick.posts[30] = ratio{of: 1.59} },
		"GET ÷ pgbench's SELECT ≥ 0.35 (aim 0.45)":               func(r *results) { r.yardstick.get.of = 0.34 },
		"each of 3 lists ≤ 10 ms (aim 3)":                        func(r *results) { r.lists[2].median = 11 },
		"every delivery is signed":                               func(r *results) { r.counts.Invalid = 1 },
		"no delivery arrives twice":                              func(r *results) { r.counts.Duplicates = 1 },
		"at 20 events/s p50 ≤ 15 ms":                             func(r *results) { r.quiet.latency.p50 = 15.1 },
		"at 20 events/s p99 ≤ 40 ms":                             func(r *results) { r.quiet.latency.p99 = 40.1 },
		"at 20 events/s call → receiver p50 ≤ 6 ms (aim 5)":      func(r *results) { r.quiet.p50 = sample{6.1} },
		"at 20 events/s call → receiver p99 ≤ 14 ms (aim 12)":    func(r *results) { r.quiet.p99 = sample{14.1} },
		"at 20 events/s CPU an event ≤ 6.5 ms (aim 5)":           func(r *results) { r.quiet.cpu = sample{6.6} },
		"at rest dispatcher ≤ 1.2 % of a core (aim 0.5)":         func(r *results) { r.idle.dispatcher = sample{1.3} },
		"at rest ≤ 8 commits/s (aim 2)":                          func(r *results) { r.idle.commits = sample{8.1} },
		"at 500 events/s commit → waiting follower p99 ≤ 200 ms": func(r *results) { r.feed.p99[0] = 201 },
		"1000 waiting partners ≤ 10 % of a core":                 func(r *results) { r.waiting.cpu = sample{10.1} },
		"1000 waiting partners ≤ 40 MB of http":                  func(r *results) { r.waiting.httpMB = sample{41} },
		"5 of 30 endpoints hang: healthy p99 ≤ 1.2× (aim 1.05)":  func(r *results) { r.hanging.five.of = 1.21 },
		"a fifth hangs: healthy p99 ≤ 1.2×":                      func(r *results) { r.isolation.p99.add(true, 21) },
		"a fifth hangs: healthy rate ≥ 0.9×":                     func(r *results) { r.isolation.rate.add(false, 3900) },
		"20 hostile: good p99 ≤ 1.2×":                            func(r *results) { r.hostility.p99.add(true, 13) },
		"20 hostile: dispatcher < 150 MB":                        func(r *results) { r.hostility.mem = 150 },
		"draining ≥ 4000/s":                                      func(r *results) { r.backlogs[1].rate = sample{3999} },
		"CPU per delivery within 15 % over backlogs":             func(r *results) { r.backlogs[2].cpu = sample{0.39} },
		"dispatcher < 150 MB":                                    func(r *results) { r.dispatcherMB = 150 },
		"Redis < 50 MB":                                          func(r *results) { r.redisMB = 50 },
	} {
		r := whole()
		spoil(r)
		require.Equal(t, []string{want}, missed(r))
		var out strings.Builder
		require.NoError(t, r.print(&out))
		require.Regexp(t, want[:8]+".* NO, MISSED\n", out.String())
		require.Contains(t, out.String(), "1 of 34 targets missed\n")
	}
}

func TestLines_OfStepsLeftOut_AreNotThere(t *testing.T) {
	t.Parallel()
	require.Empty(t, (&results{}).lines())
	require.Empty(t, (&results{floors: &floors{jobs: 1}}).lines())
	require.Len(t, (&results{throughput: &throughput{}}).lines(), 8)
	require.Len(t, (&results{backlogs: []backlog{{n: 1}}}).lines(), 3) // a single size cannot be compared
}

func TestLines_FiguresThatAreMissing_DoNotHold(t *testing.T) {
	t.Parallel()
	require.Len(t, missed(&results{idle: &idle{}}), 2)
	require.Contains(t, missed(&results{throughput: &throughput{}}), "http ≤ 100 MB under full load")
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

func TestPercentile(t *testing.T) {
	t.Parallel()
	require.Zero(t, sample(nil).percentile(99))
	s := make(sample, 200)
	for i := range s {
		s[i] = float64(200 - i)
	}
	require.InDelta(t, 198, s.percentile(99), 0)
	require.InDelta(t, 100, s.percentile(50), 0)
	require.InDelta(t, 7, sample{7}.percentile(99), 0)
}

func TestMedian(t *testing.T) {
	t.Parallel()
	require.Zero(t, sample(nil).median())
	require.InDelta(t, 2.5, sample{9, 2, 1, 3}.median(), 1e-9)
	require.InDelta(t, 2, sample{9, 2, 1}.median(), 1e-9)
}
