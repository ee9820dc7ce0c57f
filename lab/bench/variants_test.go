package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariants_EveryCombination_TheFirstOnTheLastSiteDecides(t *testing.T) {
	t.Parallel()
	w := &workbench{sites: []*site{{name: "base"}, {name: "new"}}}
	all := w.variants(options{keys: []bool{true, false}, partners: []int{30, 1}, conns: []int{8}})
	require.Len(t, all, 8)
	require.Equal(t, "new keyed, 30 partners, 8 connections, 1+1", all[len(w.sites)-1].String())
	require.Equal(t, "base keyless, 1 partner, 8 connections, 1+1", all[6].String())
	all[6].hanging = 5
	require.Equal(t, "base keyless, 1 partner, 8 connections, 1+1, 5 hang", all[6].String())
}

func TestPairs_CompareVersions_Keys_Processes_AndEndpointsThatHang(t *testing.T) {
	t.Parallel()
	w := &workbench{sites: []*site{{name: "base"}, {name: "new"}}}
	for _, c := range []struct {
		change func(*loadVariant)
		want   [2][2]int
	}{
		{func(v *loadVariant) { v.keyed = false }, [2][2]int{{0, 2}, {1, 3}}},
		{func(v *loadVariant) { v.https, v.dispatchers = 2, 2 }, [2][2]int{{2, 0}, {3, 1}}},
		{func(v *loadVariant) { v.hanging = 5 }, [2][2]int{{2, 0}, {3, 1}}},
	} {
		all := w.variants(options{keys: []bool{true, true}, partners: []int{30}, conns: []int{32}})
		c.change(&all[2])
		c.change(&all[3])
		var want []pair
		for _, p := range append(c.want[:], [2]int{1, 0}, [2]int{3, 2}) { // new ÷ base
			want = append(want, pair{all[p[0]].String(), all[p[1]].String()})
		}
		require.ElementsMatch(t, want, w.pairs(all))
	}
}

func TestSubscriptionURL_TheFirstPartnersHang(t *testing.T) {
	t.Parallel()
	w := &workbench{sink: "http://127.0.0.1:8"}
	v := loadVariant{partners: 30, hanging: 1}

	require.Equal(t, "http://127.0.1.1:8/hang", w.subscriptionURL(v, 0))
	require.Equal(t, "http://127.0.1.2:8/", w.subscriptionURL(v, 1))
}

func TestParse_UnknownStepOrHalfAPair_IsRefused(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`-only: there is no step "speed"`:           {"-only", "rate,speed"},
		`-only: there is no step "rate"`:            {"api", "-only", "rate"},
		"-base and -new belong together":            {"-base", "bin"},
		`-partners: "many" is no size`:              {"-partners", "many"},
		`-partners: "0" is no size`:                 {"-partners", "0"},
		`-conns: "" is no size`:                     {"-conns", ""},
		`-keys: "some" is neither with nor without`: {"-keys", "some"},
	} {
		require.EqualError(t, attempt(func() { parse(args) }), want)
	}
}

func TestParse_TheFirstArgumentNamesTheProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, steps []string
		conns       []int
	}{
		{nil, []string{"rate", "scale", "latency", "idle", "hanging"}, []int{32}},
		{[]string{"delivery", "-base", "a", "-new", "b"}, []string{"rate"}, []int{32}},
		{[]string{"-only", "idle,rate", "-base", "a", "-new", "b"}, []string{"idle", "rate"}, []int{32}},
		{[]string{"api"}, []string{"posts", "reads"}, []int{8, 32, 128}},
		{[]string{"api", "-conns", "9", "-only", "reads"}, []string{"reads"}, []int{9}},
	} {
		o := parse(c.args)
		require.Equal(t, c.steps, namesOf(o.steps))
		require.Equal(t, c.conns, o.conns)
		require.Equal(t, []bool{true, false}, o.keys)
	}
}
