package main

import (
	"context"
	"strconv"
	"syscall"
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
	memory    float64            // of Redis, bytes
	machine   procfs.CPUStat
}

func (w *workbench) read(ctx context.Context) (r reading) {
	check(w.Pool.QueryRow(ctx, `
		SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8, xact_commit::float8
		FROM pg_stat_database WHERE datname = current_database()`).Scan(&r.wal, &r.commits))
	info := w.redis.InfoMap(ctx, "stats", "memory")
	check(info.Err())
	r.commands = must(strconv.ParseFloat(info.Item("Stats", "total_commands_processed"), 64))
	r.memory = must(strconv.ParseFloat(info.Item("Memory", "used_memory"), 64))
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
	r.at, r.generator = time.Now(), ownCPU()
	return r
}

func ownCPU() float64 {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// cost is the difference of two readings, shared among n operations.
type cost struct {
	n        int
	from, to reading
}

// cost reads the counters before and after an activity, which returns the number of its operations.
func (w *workbench) cost(ctx context.Context, activity func() (n int)) (c cost) {
	c.from = w.read(ctx)
	c.n = activity()
	c.to = w.read(ctx)
	return c
}

// figures of an operation. CPU is in seconds per 1,000 operations.
func (c cost) figures() figures {
	n, generator, used := float64(c.n), c.to.generator-c.from.generator, 0.0
	f := figures{
		"rate": n / c.to.at.Sub(c.from.at).Seconds(), "generator": generator * 1000 / n,
		"WAL B": (c.to.wal - c.from.wal) / n, "commits": (c.to.commits - c.from.commits) / n,
		"redis cmd": (c.to.commands - c.from.commands) / n, "redis B": (c.to.memory - c.from.memory) / n,
	}
	for _, part := range parts {
		seconds := c.to.cpu[part] - c.from.cpu[part]
		f[part] = seconds * 1000 / n
		used += seconds
	}
	f["CPU"] = used * 1000 / n
	all, idle := machineTime(c.to.machine)-machineTime(c.from.machine), idleTime(c.to.machine)-idleTime(c.from.machine)
	stolen := c.to.machine.Steal - c.from.machine.Steal
	f["steal %"] = 100 * stolen / all
	f["others %"] = max(0, 100*(all-idle-stolen-used-generator)/all)
	return f
}

// machineTime and idleTime are CPU-seconds of the machine. User includes guests.
func machineTime(m procfs.CPUStat) float64 {
	return m.User + m.Nice + m.System + idleTime(m) + m.IRQ + m.SoftIRQ + m.Steal
}

func idleTime(m procfs.CPUStat) float64 { return m.Idle + m.Iowait }

// ticksPerSecond is USER_HZ, 100 on every Linux that Go runs on.
const ticksPerSecond = 100

var parts = []string{"http", "dispatcher", "postgres", "redis", "receiver"}

// treesCPU adds up, for each part, its processes (parts by pid), their living children and the ended children for which
// they have waited.
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

// peakMB is the peak memory of a process in MB; 0 after its end.
func peakMB(pid int) float64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	status, err := p.NewStatus()
	if err != nil {
		return 0
	}
	return float64(status.VmHWM) / (1 << 20)
}

// withMemory adds the peak memory of the first process of each kind.
func (w *workbench) withMemory(f figures) figures {
	f["http MB"], f["disp MB"] = peakMB(w.https[0].Process().Pid()), peakMB(w.dispatchers[0].Process().Pid())
	return f
}
