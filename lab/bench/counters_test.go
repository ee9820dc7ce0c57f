package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
)

func TestTreesCPU_CountChildrenAndThoseThatHaveEnded(t *testing.T) {
	t.Parallel()
	self := os.Getpid()
	cpu := func() float64 { return treesCPU(map[int]string{self: "us"})["us"] }
	before := cpu()
	require.NoError(t, exec.Command("sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done").Run())
	require.Greater(t, cpu(), before)
	require.Positive(t, peakMB(self))
}

func TestFigures_ArePerOperation(t *testing.T) {
	t.Parallel()
	began := time.Now()
	from := reading{at: began, cpu: map[string]float64{"http": 1, "postgres": 2}, generator: 1, wal: 100, commits: 5,
		commands: 10, machine: procfs.CPUStat{User: 50, Guest: 9, Idle: 50}}
	to := reading{at: began.Add(2 * time.Second), cpu: map[string]float64{"http": 2, "postgres": 3}, generator: 1.5,
		wal: 4100, commits: 15, commands: 40,
		machine: procfs.CPUStat{User: 52, Guest: 10, Nice: 1, System: 1, Idle: 54, Iowait: 1, Steal: 1}}

	f := figuresOf(1000, from, to)

	want := figures{
		"rate": 500, "CPU": 2, "http": 1, "postgres": 1, "redis": 0, "generator": 0.5, "WAL B": 4, "commits": 0.01,
		"redis cmd": 0.03, "others %": 25, // 10 s in all, guests once: 5 idle, 2.5 ours
	}
	for name, figure := range want {
		require.InDelta(t, figure, f[name], 1e-9, name)
	}
}
