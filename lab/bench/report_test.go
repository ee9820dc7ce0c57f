package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/world"
)

// found is a figure that a step adds.
type found struct {
	key     string
	figure  float64
	shown   string
	details []any
}

// whole is a run that meets every target, each of them exactly or by the smallest step.
func whole() []found {
	return []found{
		{"rate", 3000, "3000 (2900–9000)/s", nil}, {"of floor", 0.35, "0.35 of 10000/s", nil}, {"CPU", 0.5, "0.500", nil},
		{"keyed rate", 0.75, "0.75 (0.70–0.80)", nil}, {"keyed CPU", 1.3, "1.30", nil}, {"full", 1.15, "1.15", nil},
		{"http MB", 100, "100 MB", nil}, {"dispatcher MB", 60, "60 MB", nil},
		{"unsigned", 0, "0 of 60000 are not", nil}, {"repeated", 0, "0 of 60000", nil},
		{"quiet log p50", 15, "15.0 ms", nil}, {"quiet log p99", 40, "40.0 ms", nil},
		{"quiet p50", 6, "6.0 ms", nil}, {"quiet p99", 14, "14.0 ms", nil}, {"quiet CPU", 6.5, "6.50 ms", nil},
		{"idle CPU", 1.2, "1.20 %", nil}, {"idle commits", 8, "8.0/s", nil}, {"feed", 200, "50.0 (40.0–200.0) ms", nil},
		{"waiting CPU", 10, "10.00 %", nil}, {"waiting MB", 40, "40 MB", nil}, {"hanging", 1.2, "1.20", nil},
		{"isolation p99", 1.2, "1.20×: 18 against 15 ms", nil}, {"isolation rate", 0.9, "0.90×: 2700 against 3000 /s", nil},
		{"hostile p99", 1.2, "1.20×: 12 against 10 ms", nil}, {"hostile MB", 149, "149 MB", nil},
		{"drain", 4000, "4000/s, the slowest", nil}, {"drain spread", 0.15, "15 %", nil},
		{"peak dispatcher", 149, "149 MB", nil}, {"peak Redis", 49, "49 MB", nil},
		{"provider API", 1.3, "1.30", nil}, {"provider delivery", 1.3, "1.30", nil}, {"settled", 300, "5m0s", []any{5000}},
		{"notices", 1.3, "1.30", nil}, {"Redis keyed", 50, "50 MB", []any{200_000}},
		{"posts", 1.6, "1.60", []any{"1 partner"}}, {"posts", 1.6, "1.60", []any{"30 partners"}},
		{"gets", 0.35, "0.35", nil}, {"lists", 10, "10.0 ms: deposits, status pending", []any{3}},
	}
}

// run gives the results of a run with the figures.
func run(all []found) *results {
	r := &results{}
	for _, f := range all {
		r.add(f.key, f.figure, f.shown, f.details...)
	}
	return r
}

func missed(r *results) (targets []string) {
	for _, l := range r.lines() {
		if !l.holds {
			targets = append(targets, l.target)
		}
	}
	return targets
}

// shown are the lines without their places.
func shown(r *results) (all []line) {
	for _, l := range r.lines() {
		all = append(all, line{target: l.target, measured: l.measured, holds: l.holds})
	}
	return all
}

func TestLines_OfAWholeRun_ListEveryTarget(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range run(whole()).lines() {
		got = append(got, l.target)
	}
	require.Empty(t, cmp.Diff([]string{
		"end to end ≥ 3000/s (aim 4000)",
		"end to end ≥ 0.35 of the asynq floor",
		"CPU s per 1,000 ≤ 0.5 (aim 0.4)",
		"keyed ÷ keyless, rate ≥ 0.75 (aim 0.85)",
		"keyed ÷ keyless, CPU ≤ 1.3 (aim 1.2)",
		"full ÷ empty database, CPU ≤ 1.15 (aim 1.1)",
		"http ≤ 100 MB under full load",
		"dispatcher ≤ 60 MB under full load",
		"every delivery is signed",
		"no delivery arrives twice",
		"at 20 events/s p50 ≤ 15 ms",
		"at 20 events/s p99 ≤ 40 ms",
		"at 20 events/s call → receiver p50 ≤ 6 ms (aim 5)",
		"at 20 events/s call → receiver p99 ≤ 14 ms (aim 12)",
		"at 20 events/s CPU an event ≤ 6.5 ms (aim 5)",
		"at rest dispatcher ≤ 1.2 % of a core (aim 0.5)",
		"at rest ≤ 8 commits/s (aim 2)",
		"at 500 events/s commit → waiting follower p99 ≤ 200 ms",
		"1000 waiting partners ≤ 10 % of a core",
		"1000 waiting partners ≤ 40 MB of http",
		"5 of 30 endpoints hang: healthy p99 ≤ 1.2× (aim 1.05)",
		"a fifth hangs: healthy p99 ≤ 1.2×",
		"a fifth hangs: healthy rate ≥ 0.9×",
		"20 hostile: good p99 ≤ 1.2×",
		"20 hostile: dispatcher < 150 MB",
		"draining ≥ 4000/s",
		"CPU per delivery within 15 % over backlogs",
		"dispatcher < 150 MB",
		"Redis < 50 MB",
		"provider hangs ÷ answers, p99 of the API ≤ 1.3",
		"provider hangs ÷ answers, p99 of a delivery ≤ 1.3",
		"5000 payments of an outage settled within 5m0s",
		"1,000 unsigned notices/s: p99 of POST deposits ≤ 1.3×",
		"Redis after 200000 keyed calls ≤ 50 MB (aim 30)",
		"POST keyed ÷ pgbench, 1 partner ≥ 1.6 (aim 2)",
		"POST keyed ÷ pgbench, 30 partners ≥ 1.6 (aim 2)",
		"GET ÷ pgbench's SELECT ≥ 0.35 (aim 0.45)",
		"each of 3 lists ≤ 10 ms (aim 3)",
	}, got))
	require.Empty(t, missed(run(whole())))
	require.Equal(t, line{target: "end to end ≥ 3000/s (aim 4000)", measured: "3000 (2900–9000)/s", holds: true},
		shown(run(whole()))[0])
}

func TestLines_BeyondATarget_SayWhichIsMissed(t *testing.T) {
	t.Parallel()
	const step = 0.001
	higherIsBetter := []string{"rate", "of floor", "keyed rate", "isolation rate", "drain", "posts", "gets"}
	for i, f := range whole() {
		spoilt := whole()
		switch {
		case slices.Contains(higherIsBetter, f.key):
			spoilt[i].figure -= step
		case strings.HasSuffix(f.key, " MB") && f.figure == 149, strings.HasPrefix(f.key, "peak "):
			spoilt[i].figure++
		default:
			spoilt[i].figure += step
		}
		r := run(spoilt)
		require.Len(t, missed(r), 1, f.key)
		var out strings.Builder
		r.print(&out)
		require.Regexp(t, regexp.QuoteMeta(missed(r)[0])+" .*NO, MISSED\n", out.String())
		require.Contains(t, out.String(), "1 of 38 targets missed\n")
	}
}

func TestLines_OfStepsLeftOut_AreNotThere(t *testing.T) {
	t.Parallel()
	require.Empty(t, (&results{}).lines())
	var out strings.Builder
	(&results{dispatcherMB: 150, redisMB: 49}).print(&out)
	require.Regexp(t, `(?s)dispatcher < 150 MB +150 MB +NO, MISSED\nRedis < 50 MB +49 MB +yes\n\n1 of 2 targets missed`,
		out.String())
}

func TestLines_FiguresThatAreMissing_DoNotHold(t *testing.T) {
	t.Parallel()
	r := &results{}
	r.addSample("idle CPU", nil, 2, " %")
	r.addRatio("hanging", ratio{})
	require.Len(t, missed(r), 2)
}

func TestAddBacklogs_TheSlowestRate_AndTheSpreadOfTheCosts(t *testing.T) {
	t.Parallel()
	b := newBoard("backlog")
	for _, f := range []struct {
		size      string
		rate, cpu float64
	}{{"10", 5000, 0.38}, {"10", 5000, 0.42}, {"100", 3000, 0.46}, {"100", 5000, 0.46}, {"1000", 4500, 0.42}} {
		b.add(f.size, figures{"rate": f.rate, "CPU": f.cpu})
	}
	r := &results{}
	r.addBacklogs(b)
	require.Equal(t, []line{
		{target: "draining ≥ 4000/s", measured: "4000/s, the slowest", holds: true},
		{target: "CPU per delivery within 15 % over backlogs", measured: "15 %", holds: true},
	}, shown(r))

	single := newBoard("backlog")
	single.add("10", figures{"rate": 3999, "CPU": 0.4})
	r = &results{}
	r.addBacklogs(single) // a single size cannot be compared
	require.Equal(t, []line{{target: "draining ≥ 4000/s", measured: "3999/s, the slowest", holds: false}}, shown(r))
}

func TestAddCounts_AndLists_ShowTheDetails(t *testing.T) {
	t.Parallel()
	r := &results{}
	r.addCounts(counts{Taken: 10, Duplicates: 1, Invalid: 2})
	lists := newBoard("first page of")
	for name, median := range map[string]float64{"deposits": 2, "deposits, status pending": 11, "delivery log": 3} {
		lists.add(name, figures{"p50 ms": median})
	}
	r.addLists(lists)
	require.Equal(t, []line{
		{target: "every delivery is signed", measured: "2 of 12 are not", holds: false},
		{target: "no delivery arrives twice", measured: "1 of 10", holds: false},
		{target: "each of 3 lists ≤ 10 ms (aim 3)", measured: "11.0 ms: deposits, status pending", holds: false},
	}, shown(r))
}

func TestMix_CountsWhatTheGoodOneGets(t *testing.T) {
	t.Parallel()
	named := func(name string) testPartner { return testPartner{Partner: world.Partner{Key: name}} }
	good, others := named("good"), []testPartner{named("a"), named("b")}
	for _, m := range []mix{{good, others, 4, 5}, {good, others, 1, 3}} {
		goods := 0
		seen := map[string]int{}
		for n := range 60 {
			require.Equal(t, goods, m.goods(n))
			who := m.whose(n).Key
			seen[who]++
			if who == good.Key {
				goods++
			}
		}
		require.Equal(t, 60*m.first/m.cycle, seen["good"])
		require.Equal(t, seen["a"], seen["b"])
	}
}

func TestIsolationRate_IsAShareOfTheFullSpeed(t *testing.T) {
	t.Parallel()
	require.Equal(t, 200, isolationRate(0))
	require.Equal(t, 200, isolationRate(100))
	require.Equal(t, 600, isolationRate(2000))
	require.Equal(t, 1000, isolationRate(10_000))
}

func TestVisits_EachSizeBeforeAndAfterTheLargerOnes(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10_000, 10_000, 10_000, 100_000, 1_000_000, 100_000, 10_000, 10_000, 10_000},
		visits([]int{100_000, 10_000, 1_000_000}))
	require.Equal(t, []int{50_000}, visits([]int{50_000}))
	require.Empty(t, visits(nil))
}

func TestMedian(t *testing.T) {
	t.Parallel()
	require.Zero(t, sample(nil).median())
	require.InDelta(t, 2.5, sample{9, 2, 1, 3}.median(), 1e-9)
	require.InDelta(t, 2, sample{9, 2, 1}.median(), 1e-9)
}
