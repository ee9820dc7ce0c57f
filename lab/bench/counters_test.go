package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseStat_AddsUpTheMachine(t *testing.T) {
	t.Parallel()
	got := parseStat("cpu  100 200 300 4000 500 0 0 50 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	require.Equal(t, machineTimes{all: 51.5, idle: 45, stolen: 0.5}, got)
}

func TestInfoNumber(t *testing.T) {
	t.Parallel()
	info := "# Memory\r\nused_memory:1048576\r\nused_memory_human:1.00M\r\n"
	require.InDelta(t, 1<<20, infoNumber(info, "used_memory"), 0)
	require.Zero(t, infoNumber(info, "used_memory_rss"))
}

func TestCost_Figures_ArePerOperation(t *testing.T) {
	t.Parallel()
	began := time.Now()
	from := reading{at: began, cpu: usage{"http": 1, "postgres": 2}, generator: 1, wal: 100, commits: 5, commands: 10, memory: 1000, machine: machineTimes{100, 50, 0}}
	to := reading{at: began.Add(2 * time.Second), cpu: usage{"http": 2, "postgres": 3}, generator: 1.5, wal: 4100, commits: 15, commands: 40, memory: 3000, machine: machineTimes{110, 55, 1}}

	f := cost{n: 1000, from: from, to: to}.figures()

	want := figures{
		"rate": 500, "CPU": 2, "http": 1, "postgres": 1, "redis": 0, "generator": 0.5, "WAL B": 4, "commits": 0.01, "redis cmd": 0.03, "redis B": 2,
		"steal %": 10, "others %": 15, // 10 s in all: 5 idle, 1 stolen, 2.5 ours
	}
	for name, figure := range want {
		require.InDelta(t, figure, f[name], 1e-9, name)
	}
}
