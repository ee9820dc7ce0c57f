package main

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"partnerdeposits/lab/world"
)

// reading holds the values of all resource counters at a moment.
type reading struct {
	at time.Time
	// CPU-seconds by part of the system: http, dispatcher, postgres, …
	cpu       map[string]float64
	generator float64 // CPU-seconds of the load generator, this process.
	wal       float64 // Bytes of write-ahead log that Postgres has written.
	commits   float64 // Commits in the measured service's database.
	// Commands that Redis has executed, those inside scripts included.
	commands float64
	machine  procfs.CPUStat
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
	for part, nodes := range map[string][]*world.ServiceProcess{"http": w.https, "dispatcher": w.dispatchers} {
		for _, n := range nodes {
			owners[n.Process().Pid()] = part
		}
	}
	r.cpu = treesCPU(owners)
	r.at, r.generator = time.Now(), must(must(procfs.Self()).Stat()).CPUTime()
	return r
}

// cost runs an activity, which returns its number of operations, and returns their rate, CPU time, memory and
// database work.
func (w *workbench) cost(ctx context.Context, activity func() (n int)) figures {
	from := w.read(ctx)
	n := activity()
	f := figuresOf(float64(n), from, w.read(ctx))
	// The peak memory of the first process of each kind is measured.
	if len(w.https) > 0 {
		f["http MB"], f["disp MB"] = peakMB(w.https[0].Process().Pid()), peakMB(w.dispatchers[0].Process().Pid())
	}
	return f
}

// figuresOf divides the growth of resource counters by n operations; CPU is in seconds per 1,000 operations.
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

// busyAndAll returns the CPU-seconds that the machine's processors have worked, and those that have passed.
func busyAndAll(m procfs.CPUStat) (busy, all float64) {
	busy = m.User + m.Nice + m.System + m.IRQ + m.SoftIRQ + m.Steal
	return busy, busy + m.Idle + m.Iowait
}

// ticksPerSecond is the unit of CPU times in /proc (USER_HZ): 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// treesCPU returns the CPU-seconds of each part's processes and their children, ended ones included. parts maps
// process id to part.
func treesCPU(parts map[int]string) map[string]float64 {
	u := map[string]float64{}
	for _, p := range must(procfs.AllProcs()) {
		stat, err := p.Stat()
		if err != nil { // The CPU time of a process that has already ended is not counted.
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

func peakMB(pid int) float64 {
	return float64(must(must(procfs.NewProc(pid)).NewStatus()).VmHWM) / (1 << 20)
}
