package main

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"partnerdeposits/lab/world"
)

// reading is the state of all counters at a moment.
type reading struct {
	at        time.Time
	cpu       map[string]float64 // seconds by part
	generator float64            // CPU-seconds of this process
	wal       float64            // bytes
	commits   float64            // of the site's database
	commands  float64            // of Redis, those inside scripts included
	machine   procfs.CPUStat
}

func (w *workbench) read(ctx context.Context) (r reading) {
	check(w.Pool.QueryRow(ctx, `
		SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8, xact_commit::float8
		FROM pg_stat_database WHERE datname = current_database()`).Scan(&r.wal, &r.commits))
	info := w.redis.InfoMap(ctx, "stats")
	check(info.Err())
	r.commands = must(strconv.ParseFloat(info.Item("Stats", "total_commands_processed"), 64))
	r.machine = must(must(procfs.NewDefaultFS()).Stat()).CPUTotal
	owners := map[int]string{
		w.receiver.Pid(): "receiver", w.services.Postgres.Pid(): "postgres", w.services.Redis.Pid(): "redis",
	}
	for part, nodes := range map[string][]*world.Node{"http": w.https, "dispatcher": w.dispatchers} {
		for _, n := range nodes {
			owners[n.Process().Pid()] = part
		}
	}
	r.cpu = treesCPU(owners)
	r.at, r.generator = time.Now(), must(must(procfs.Self()).Stat()).CPUTime()
	return r
}

// cost gives the figures of an activity, which returns the number of its operations.
func (w *workbench) cost(ctx context.Context, activity func() (n int)) figures {
	from := w.read(ctx)
	n := activity()
	f := figuresOf(float64(n), from, w.read(ctx))
	if len(w.https) > 0 { // the first process of each kind
		f["http MB"], f["disp MB"] = peakMB(w.https[0].Process().Pid()), peakMB(w.dispatchers[0].Process().Pid())
	}
	return f
}

// figuresOf shares the difference of two readings among n operations. CPU is in seconds per 1,000 operations.
func figuresOf(n float64, from, to reading) figures {
	generator, used := to.generator-from.generator, 0.0
	f := figures{
		"rate": n / to.at.Sub(from.at).Seconds(), "generator": generator * 1000 / n, "WAL B": (to.wal - from.wal) / n,
		"commits": (to.commits - from.commits) / n, "redis cmd": (to.commands - from.commands) / n,
	}
	for part, seconds := range to.cpu {
		f[part] = (seconds - from.cpu[part]) * 1000 / n
		used += seconds - from.cpu[part]
	}
	f["CPU"] = used * 1000 / n
	busy, all := busyAndAll(to.machine)
	busyBefore, allBefore := busyAndAll(from.machine)
	f["others %"] = max(0, 100*(busy-busyBefore-used-generator)/(all-allBefore))
	return f
}

// busyAndAll are CPU-seconds of the machine. User includes guests.
func busyAndAll(m procfs.CPUStat) (busy, all float64) {
	busy = m.User + m.Nice + m.System + m.IRQ + m.SoftIRQ + m.Steal
	return busy, busy + m.Idle + m.Iowait
}

// ticksPerSecond is USER_HZ, 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// treesCPU adds up, for each part, its processes (parts by pid) and their children, ended ones included.
func treesCPU(parts map[int]string) map[string]float64 {
	u := map[string]float64{}
	for _, p := range must(procfs.AllProcs()) {
		stat, err := p.Stat()
		if err != nil { // the process has ended
			continue
		}
		for _, pid := range []int{stat.PID, stat.PPID} {
			if part, ours := parts[pid]; ours {
				u[part] += stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/ticksPerSecond
			}
		}
	}
	return u
}

// peakMB is the peak memory of a process in MB.
func peakMB(pid int) float64 {
	return float64(must(must(procfs.NewProc(pid)).NewStatus()).VmHWM) / (1 << 20)
}
