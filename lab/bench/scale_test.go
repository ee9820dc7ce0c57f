package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScalePairs_CompareWithASingleProcessOfEach_AndWithTheVersionBefore(t *testing.T) {
	t.Parallel()
	base, fresh := &site{name: "base"}, &site{name: "new"}
	at := func(s *site, https, disps int) variant {
		return variant{site: s, keyed: true, partners: 30, subscriptions: 1, conns: 32, https: https, dispatchers: disps}
	}
	all := []variant{at(base, 1, 1), at(fresh, 1, 1), at(base, 2, 2), at(fresh, 2, 2)}
	name := func(v variant) string { return v.String() }

	require.Equal(t, "new keyed, 30 partners, 1 subscription, 32 connections, 2+2", name(all[3]))
	require.Equal(t, []pair{
		{name(all[1]), name(all[0])}, {name(all[2]), name(all[0])}, {name(all[3]), name(all[1])},
		{name(all[3]), name(all[2])},
	}, scalePairs(all))
}
