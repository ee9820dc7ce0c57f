package main

import (
	"fmt"
	"strings"

	"github.com/prometheus/procfs"
)

// ticksPerSecond is USER_HZ, 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// usage is CPU-seconds by part of the system.
type usage map[string]float64

var parts = []string{"http", "dispatcher", "postgres", "redis", "receiver"}

func (w *workbench) usage() usage {
	return treesCPU(map[string]int{
		"http": w.http.Process().Pid(), "dispatcher": w.dispatcher.Process().Pid(), "receiver": w.receiver.Pid(),
		"postgres": w.services.Postgres.Pid(), "redis": w.services.Redis.Pid(),
	})
}

// treesCPU adds up each process, its living children and the ended children for which it has waited.
func treesCPU(pids map[string]int) usage {
	u := usage{}
	for _, p := range must(procfs.AllProcs()) {
		stat, err := p.Stat()
		if err != nil { // the process has ended
			continue
		}
		for part, pid := range pids {
			if stat.PID == pid || stat.PPID == pid {
				u[part] += stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/ticksPerSecond
			}
		}
	}
	return u
}

func treeCPU(pid int) float64 { return treesCPU(map[string]int{"": pid})[""] }

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
	shares := make([]string, len(parts))
	for i, p := range parts {
		shares[i] = fmt.Sprintf("%s %.3f", p, u[p]*1000/float64(n))
	}
	return fmt.Sprintf("%.3f (%s)", u.total()*1000/float64(n), strings.Join(shares, ", "))
}

// peakMB is the peak memory of a process in MB; 0 after its end.
func peakMB(pid int) int {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	status, err := p.NewStatus()
	if err != nil {
		return 0
	}
	return int(status.VmHWM >> 20)
}
