package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func twoVariants() *board {
	b := (&results{}).board("POST deposits", []pair{{"new", "base"}})
	for i, rate := range []float64{1000, 3000, 2000} {
		b.add("base", figures{"rate": rate, "CPU": 0.3})
		b.add("new", figures{"rate": rate * float64(2+i), "CPU": 0.15})
	}
	return b
}

func TestBoard_Print_ShowsMedianAndRange(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	twoVariants().print(&out)

	require.Regexp(t, `(?m)^base +2000 \(1000–3000\) +0\.300 \(0\.300–0\.300\)$`, out.String())
	require.NotContains(t, out.String(), "postgres", "a column that nobody measured")
	require.Contains(t, out.String(), "POST deposits: new ÷ base  rate 4.00 (2.00–4.00)  CPU 0.50 (0.50–0.50)\n")
}

func TestMedian(t *testing.T) {
	t.Parallel()
	require.True(t, math.IsNaN(sample(nil).median()))
	require.InDelta(t, 2.5, sample{9, 2, 1, 3}.median(), 1e-9)
	require.InDelta(t, 2, sample{9, 2, 1}.median(), 1e-9)
}

func TestResults_Print_SaysWhichTargetIsMissed(t *testing.T) {
	t.Parallel()
	r, b := &results{}, twoVariants()
	r.atLeast("slow", 3000, rounded(2999))
	r.atLeast("fast enough", 3000, rounded(3000))
	r.atMost("cheap", 0.15, b.median("new", "CPU"))
	r.atMost("dear", 0.29, b.median("base", "CPU"))
	r.atMost("never measured", 9, b.median("base", "p99 ms"))
	r.atLeast("four times", 4, b.ratio("new", "base", "rate"))
	r.atLeast("nothing beside", 0, b.ratio("new", "other", "rate"))
	var out strings.Builder
	r.print(&out)

	require.Equal(t, strings.Fields(`
		target bound measured holds?
		slow ≥ 3000 2999 NO, MISSED
		fast enough ≥ 3000 3000 yes
		cheap ≤ 0.15 0.150 (0.150–0.150) yes
		dear ≤ 0.29 0.300 (0.300–0.300) NO, MISSED
		never measured ≤ 9 – NO, MISSED
		four times ≥ 4 4.00 (2.00–4.00) yes
		nothing beside ≥ 0 – NO, MISSED
		4 of 7 targets missed`), strings.Fields(out.String()))
}
