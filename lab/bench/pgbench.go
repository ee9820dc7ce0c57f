package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The pgbench scripts hold the SQL of a POST and a GET as of 2026-11-22. They must not change: later versions are
// compared with them.
var (
	//go:embed pgbench/schema.sql
	pgbenchSchema string
	//go:embed pgbench/rows.sql
	pgbenchRows string
	//go:embed pgbench/post.sql
	pgbenchPost string
	//go:embed pgbench/get.sql
	pgbenchGet string
)

const (
	pgbenchConns = 32
	// Seconds of load before the measurement, to open pgbench's connections and cache plans.
	pgbenchWarmUp = 3
)

type pgbenchResult struct {
	// Transactions that pgbench ran, the warm-up included.
	n int
	// Transactions per second after pgbench's warm-up.
	rate float64
	cpu  float64 // CPU-seconds of the pgbench process itself.
}

// yardstick is a database for pgbench, to compare the service's rate with that of Postgres alone.
type yardstick struct{ url, program string }

// openYardstick fills an empty database for pgbench. server is the process id of Postgres.
func openYardstick(ctx context.Context, url string, server int) *yardstick {
	y := &yardstick{url, must(findPgbench(server))}
	conn := must(pgx.Connect(ctx, url))
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, script := range []string{pgbenchSchema, pgbenchRows, `VACUUM (ANALYZE)`} {
		must(conn.Exec(ctx, script))
	}
	return y
}

// findPgbench returns the path of pgbench, preferably beside the running Postgres, with the same version.
func findPgbench(server int) (string, error) {
	// Without /proc the path of the Postgres program is "", and PATH is searched.
	postgres, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", server))
	for _, name := range []string{filepath.Join(filepath.Dir(postgres), "pgbench"), "pgbench"} {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", errors.New("pgbench is needed and not there: scripts/ensure-debian.sh pgbench installs it; " +
		"other systems have it in a package such as postgresql-contrib")
}

// run executes a script with pgbench for a length of time, after a warm-up.
func (y *yardstick) run(ctx context.Context, script string, partners int, length time.Duration) pgbenchResult {
	seconds := max(1, int(length.Seconds()))
	//nolint:gosec // of the Postgres beside
	cmd := exec.CommandContext(ctx, y.program, "--no-vacuum", "--protocol=prepared", "--jobs=2", "--progress=1",
		"--client="+strconv.Itoa(pgbenchConns), "--time="+strconv.Itoa(pgbenchWarmUp+seconds),
		"--define=partners="+strconv.Itoa(partners), "--file=-", y.url)
	cmd.Stdin = strings.NewReader(script)
	said, err := cmd.CombinedOutput()
	if err != nil {
		check(fmt.Errorf("pgbench: %w: %s", err, said))
	}
	r := parsePgbench(string(said), seconds)
	r.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return r
}

var (
	failed   = regexp.MustCompile(`(?m)^number of failed transactions: [1-9]`)
	total    = regexp.MustCompile(`actually processed: (\d+)\n`)
	progress = regexp.MustCompile(`(?m)^progress: [\d.]+ s, ([\d.]+) tps`)
)

// parsePgbench reads pgbench's output. The rate is the mean of the last seconds.
func parsePgbench(output string, seconds int) (r pgbenchResult) {
	found, rates := total.FindStringSubmatch(output), progress.FindAllStringSubmatch(output, -1)
	if found == nil || len(rates) < seconds || failed.MatchString(output) {
		check(fmt.Errorf("pgbench: transactions failed, or no figures in %q", output))
	}
	r.n = must(strconv.Atoi(found[1]))
	for _, second := range rates[len(rates)-seconds:] {
		r.rate += must(strconv.ParseFloat(second[1], 64)) / float64(seconds)
	}
	return r
}
