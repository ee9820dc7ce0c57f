package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticksPerSecond is USER_HZ, 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// usage is CPU-seconds by part of the system.
type usage map[string]float64

var parts = []string{"http", "dispatcher", "postgres", "redis", "receiver"}

func (w *world) usage() usage {
	u := usage{}
	for part, pid := range map[string]int{
		"http": w.http.Pid(), "dispatcher": w.dispatcher.Pid(), "receiver": w.receiver.Pid(),
		"postgres": w.services.Postgres.Pid(), "redis": w.services.Redis.Pid(),
	} {
		u[part] = treeCPU(pid)
	}
	return u
}

func (u usage) since(before usage) usage {
	d := usage{}
	for k, v := range u {
		d[k] = v - before[k]
	}
	return d
}

func (u usage) total() (sum float64) {
	for _, v := range u {
		sum += v
	}
	return sum
}

// per gives CPU-seconds per 1,000 of n, in total and by part.
func (u usage) per(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.3f", u.total()*1000/float64(n))
	for i, p := range parts {
		sep := ", "
		if i == 0 {
			sep = " ("
		}
		fmt.Fprintf(&b, "%s%s %.3f", sep, p, u[p]*1000/float64(n))
	}
	return b.String() + ")"
}

// treeCPU adds up a process, its living children and the ended children for which it has waited.
func treeCPU(pid int) float64 {
	total := processTicks(pid)
	for _, child := range children(pid) {
		total += processTicks(child)
	}
	return total / ticksPerSecond
}

func processTicks(pid int) (ticks float64) {
	for _, f := range statFields(pid)[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseFloat(f, 64)
		ticks += n
	}
	return ticks
}

// statFields are the fields of /proc/<pid>/stat from the state on.
func statFields(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return make([]string, 50)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return strings.Fields(rest)
}

func children(pid int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if fields := statFields(child); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			pids = append(pids, child)
		}
	}
	return pids
}

// peakMB is the peak memory of a process in MB.
func peakMB(pid int) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(raw)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kb)[0])
			return n / 1024
		}
	}
	return 0
}
