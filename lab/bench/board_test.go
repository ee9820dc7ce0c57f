package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func twoVariants() *board {
	b := newBoard("POST deposits", pair{"new", "base"})
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

func TestBoard_RatioOfAVariantThatWasNotMeasured_IsADash(t *testing.T) {
	t.Parallel()
	require.Equal(t, "–", twoVariants().ratio("new", "other", "rate").String())
}

func TestPairs_CompareVersionsAndKeys(t *testing.T) {
	t.Parallel()
	w := &workbench{sites: []*site{{name: "base"}, {name: "new"}}}
	all := w.variants(options{keys: []bool{true, false}, partners: []int{30}}, []int{32}, []int{1})
	const tail = ", 30 partners, 1 subscription, 32 connections"

	require.ElementsMatch(t, []pair{
		{"base keyed" + tail, "base keyless" + tail},
		{"new keyed" + tail, "new keyless" + tail},
		{"new keyed" + tail, "base keyed" + tail},
		{"new keyless" + tail, "base keyless" + tail},
	}, w.pairs(all))
	deciding, beside := w.decide(all)
	require.Equal(t, "new keyed"+tail, deciding.String())
	require.Equal(t, "new keyless"+tail, beside.String())
}

func TestDecide_KeylessAlone_HasNoneBeside(t *testing.T) {
	t.Parallel()
	w := &workbench{sites: []*site{{}}}
	all := w.variants(options{keys: []bool{false}, partners: []int{1, 30}}, []int{8}, []int{4, 1})

	deciding, beside := w.decide(all)

	require.Equal(t, "keyless, 30 partners, 1 subscription, 8 connections", deciding.String())
	require.Nil(t, beside)
}

var delivery, _ = programOf([]string{"delivery"})

func TestParse_UnknownStepOrHalfAPair_IsRefused(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`-only: there is no step "speed"`:           {"-only", "rate,speed"},
		"-base and -new belong together":            {"-base", "bin"},
		`-partners: "many" is no size`:              {"-partners", "many"},
		`-backlog: "0" is no size`:                  {"-backlog", "0"},
		`-subscriptions: "-1" is no size`:           {"-subscriptions", "1,-1"},
		`-keys: "some" is neither with nor without`: {"-keys", "some"},
	} {
		require.EqualError(t, attempt(func() { parse(delivery, args) }), want)
	}
}

func TestParse_TwoVersions_CompareTheRateOnly(t *testing.T) {
	t.Parallel()
	o := parse(delivery, []string{"-base", "a", "-new", "b"})
	require.True(t, o.wants("rate"))
	require.False(t, o.wants("latency"))

	o = parse(delivery, nil)
	require.True(t, o.wants("latency"))
	require.Equal(t, []bool{true, false}, o.keys)
}
