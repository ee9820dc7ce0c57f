// Package pgbench measures the statements of a request with PostgreSQL's own load generator, as a yardstick: the rate
// that Postgres reaches when nothing but the statements is executed, each request in a transaction of its own.
//
// Schema and scripts are frozen as of 2026-11-22, so that the yardstick stays the same while the service changes.
package pgbench

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

// Clients is the number of connections.
const Clients = 32

var (
	//go:embed schema.sql
	schema string
	//go:embed rows.sql
	rows string
	// Post is the script of a POST of a deposit with an Idempotency-Key. Its variable is the number of partners.
	//go:embed post.sql
	Post string
	// Get is the script of a GET of a deposit.
	//go:embed get.sql
	Get string
)

// Result is the result of a run.
type Result struct {
	N    int     // transactions, those of the warm-up included
	Rate float64 // transactions/s after the warm-up
	CPU  float64 // CPU-seconds of pgbench itself
}

// Database is an empty database with the schema of the scripts.
type Database struct{ url, program string }

// Open makes the tables and their first rows. server is the process id of the Postgres: pgbench is of the same version.
//
// The error names the package that has pgbench.
func Open(ctx context.Context, url string, server int) (*Database, error) {
	program, err := find(server)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, script := range []string{schema, rows, `VACUUM (ANALYZE)`} {
		if _, err := conn.Exec(ctx, script); err != nil {
			return nil, err
		}
	}
	return &Database{url, program}, nil
}

// find prefers the pgbench beside the server's own program.
func find(server int) (string, error) {
	postgres, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", server)) // "" elsewhere
	for _, name := range []string{filepath.Join(filepath.Dir(postgres), "pgbench"), "pgbench"} {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", errors.New("pgbench is needed and not there: scripts/ensure-debian.sh pgbench installs it; " +
		"other systems have it in a package such as postgresql-contrib")
}

// warmUp is the time in seconds after which all connections are open, with plans and caches.
const warmUp = 3

// Run executes a script over Clients connections, with prepared statements, for a warm-up and then the length.
func (d *Database) Run(ctx context.Context, script string, partners int, length time.Duration) (Result, error) {
	seconds := max(1, int(length.Seconds()))
	//nolint:gosec // of the Postgres beside
	cmd := exec.CommandContext(ctx, d.program, "--no-vacuum", "--protocol=prepared", "--client="+strconv.Itoa(Clients),
		"--jobs=2",
		"--progress=1", "--time="+strconv.Itoa(warmUp+seconds), "--define=partners="+strconv.Itoa(partners),
		"--file=-", d.url)
	cmd.Stdin = strings.NewReader(script)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return Result{}, fmt.Errorf("pgbench: %w: %s", err, said)
	}
	r, err := Parse(string(said), seconds)
	r.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return r, err
}

var (
	failed   = regexp.MustCompile(`(?m)^number of failed transactions: [1-9]`)
	total    = regexp.MustCompile(`actually processed: (\d+)\n`)
	progress = regexp.MustCompile(`(?m)^progress: [\d.]+ s, ([\d.]+) tps`)
)

// Parse reads the output of pgbench. The rate is the mean of the last seconds.
//
// Returns an error if transactions failed, or figures are missing.
func Parse(output string, seconds int) (r Result, err error) {
	found, rates := total.FindStringSubmatch(output), progress.FindAllStringSubmatch(output, -1)
	if found == nil || len(rates) < seconds || failed.MatchString(output) {
		return r, fmt.Errorf("pgbench: transactions failed, or no figures in %q", output)
	}
	if r.N, err = strconv.Atoi(found[1]); err != nil {
		return r, err
	}
	for _, second := range rates[len(rates)-seconds:] {
		rate, err := strconv.ParseFloat(second[1], 64)
		if err != nil {
			return r, err
		}
		r.Rate += rate / float64(seconds)
	}
	return r, nil
}
