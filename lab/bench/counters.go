package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reading is the state of all counters at a moment.
type reading struct {
	at        time.Time
	cpu       usage
	generator float64 // CPU-seconds of this process
	wal       float64 // bytes
	commits   float64 // of the site's database
	commands  float64 // of Redis, those inside scripts included
	memory    float64 // of Redis, bytes
	machine   machineTimes
}

// machineTimes are CPU-seconds of the whole machine.
type machineTimes struct{ all, idle, stolen float64 }

func (w *world) read(ctx context.Context) (r reading, err error) {
	err = w.pool.QueryRow(ctx, `
		SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8, xact_commit::float8
		FROM pg_stat_database WHERE datname = current_database()`).Scan(&r.wal, &r.commits)
	if err != nil {
		return r, err
	}
	info, err := w.redis.Info(ctx, "stats", "memory").Result()
	if err != nil {
		return r, err
	}
	r.commands, r.memory = infoNumber(info, "total_commands_processed"), infoNumber(info, "used_memory")
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return r, err
	}
	r.at, r.cpu, r.generator, r.machine = time.Now(), w.usage(), ownCPU(), parseStat(string(stat))
	return r, nil
}

// infoNumber finds a number in an answer of INFO; 0 if the answer does not have it.
func infoNumber(info, name string) float64 {
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return n
		}
	}
	return 0
}

// parseStat reads the line "cpu" of /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal.
func parseStat(stat string) (m machineTimes) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	for i, f := range fields[1:min(len(fields), 9)] {
		ticks, _ := strconv.ParseFloat(f, 64)
		seconds := ticks / ticksPerSecond
		m.all += seconds
		switch i {
		case 3, 4:
			m.idle += seconds
		case 7:
			m.stolen += seconds
		}
	}
	return m
}

func ownCPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// cost is the difference of two readings, shared among n operations.
type cost struct {
	n        int
	from, to reading
}

// since reads the counters again, after n operations.
func (w *world) since(ctx context.Context, from reading, n int) (cost, error) {
	to, err := w.read(ctx)
	return cost{n, from, to}, err
}

func (c cost) rate() float64 { return float64(c.n) / c.to.at.Sub(c.from.at).Seconds() }

func (c cost) per(figure func(reading) float64) float64 {
	return (figure(c.to) - figure(c.from)) / float64(c.n)
}

// figures of an operation. CPU is in seconds per 1,000 operations.
func (c cost) figures() figures {
	used := c.to.cpu.since(c.from.cpu)
	f := figures{
		"rate": c.rate(), "CPU": used.total() * 1000 / float64(c.n),
		"generator": 1000 * c.per(func(r reading) float64 { return r.generator }),
		"WAL B":     c.per(func(r reading) float64 { return r.wal }),
		"commits":   c.per(func(r reading) float64 { return r.commits }),
		"redis cmd": c.per(func(r reading) float64 { return r.commands }),
		"redis B":   c.per(func(r reading) float64 { return r.memory }),
	}
	for _, part := range parts {
		f[part] = used[part] * 1000 / float64(c.n)
	}
	from, to := c.from.machine, c.to.machine
	whole := to.all - from.all
	ours := used.total() + c.to.generator - c.from.generator
	f["steal %"] = 100 * (to.stolen - from.stolen) / whole
	f["others %"] = max(0, 100*(whole-(to.idle-from.idle)-(to.stolen-from.stolen)-ours)/whole)
	return f
}
