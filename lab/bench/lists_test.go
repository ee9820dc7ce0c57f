package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueries_EveryFilterAndEveryPairOfDifferentNames(t *testing.T) {
	t.Parallel()
	found := queries(
		[]filter{{"status", "active", "status"}, {"clientId", "$client", "client"}, {"clientId", "cli_2", "unknown client"}},
		func(name string) string { return map[string]string{"client": "cli_1"}[name] })

	require.Equal(t, []query{
		{},
		{"status=active", ", status"},
		{"clientId=cli_1&status=active", ", status, client"},
		{"clientId=cli_2&status=active", ", status, unknown client"},
		{"clientId=cli_1", ", client"},
		{"clientId=cli_2", ", unknown client"},
	}, found)
}

func TestProgramOf_TheFirstArgumentNamesTheProgram(t *testing.T) {
	t.Parallel()
	for first, steps := range map[string]string{"delivery": "rate", "api": "posts", "-only": "rate"} {
		p, args := programOf([]string{first, "rate"})
		o := parse(p, nil)
		require.True(t, o.wants(steps))
		require.Equal(t, first == "-only", len(args) == 2)
		require.Equal(t, map[bool][]int{true: {8, 32, 128}, false: {32}}[first == "api"], o.conns)
	}
}
