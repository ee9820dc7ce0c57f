package main

import "github.com/prometheus/procfs"

// ticksPerSecond is USER_HZ, 100 on every Linux that Go runs on.
const ticksPerSecond = 100

var parts = []string{"http", "dispatcher", "postgres", "redis", "receiver"}

// cpu gives the CPU-seconds by part of the system.
func (w *workbench) cpu() map[string]float64 {
	return treesCPU(map[string]int{
		"http": w.http.Process().Pid(), "dispatcher": w.dispatcher.Process().Pid(), "receiver": w.receiver.Pid(),
		"postgres": w.services.Postgres.Pid(), "redis": w.services.Redis.Pid(),
	})
}

// treesCPU adds up each process, its living children and the ended children for which it has waited.
func treesCPU(pids map[string]int) map[string]float64 {
	u := map[string]float64{}
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
