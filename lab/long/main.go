// Command long runs the tests that need minutes, part by part, and prints a table of the parts (make test-long).
//
//	long                   every part
//	long rolling faults    some parts
//
// The exit code is 1 unless every part is green. Each part has a log .local/long/NAME.log; the table is also in
// .local/long/table.txt.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const logs = ".local/long" // in the directory of the repository, where this command runs

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "test-long:", err)
		os.Exit(1)
	}
}

var (
	errRed       = errors.New("not every part is green")
	errNoFigures = errors.New("the part has printed no figure")
)

func run(ctx context.Context, names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	// The parts share a directory for temporary files, and with it the reserved ports (backing.FreePort).
	temp, err := os.MkdirTemp("", "long-")
	if err != nil {
		return err
	}
	defer removeAll(temp)
	if err := errors.Join(os.Chmod(temp, 0o711), os.Setenv("TMPDIR", temp), os.MkdirAll(logs, 0o755)); err != nil {
		return err
	}
	t := &table{began: time.Now()}
	if err = build(ctx, chosen); err == nil {
		t.built = time.Since(t.began)
		err = t.play(ctx, chosen)
	}
	return errors.Join(err, t.write(chosen))
}

// choose gives the named parts in the order of the schedule; no name: every part.
func choose(names []string) (chosen []part, err error) {
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
		if len(names) == 0 || slices.Contains(names, p.name) {
			chosen = append(chosen, p)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("no part is called %q; the parts are %s", name, strings.Join(all, ", "))
		}
	}
	return chosen, nil
}

// build builds the programs of the parts, and fills Go's cache with the packages of the services.
func build(ctx context.Context, chosen []part) error {
	for _, args := range builds(chosen) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		fmt.Println("building: go", strings.Join(args, " "))
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

func builds(chosen []part) [][]string {
	list := [][]string{ // as lab/e2e and lab/faults build them
		{"build", "./cmd/http", "./cmd/dispatcher", "./cmd/admin"},
		{"build", "-tags=lean", "-o", os.DevNull, "./cmd/sandbox"},
		{"build", "-tags=failpoints", "./lab/faults/http", "./lab/faults/dispatcher", "./cmd/admin"},
	}
	for _, p := range chosen {
		args := []string{"build", "-o", p.program(), "./" + p.folder}
		if p.test != "" {
			args = []string{"test", "-c", "-tags=long", "-o", p.program(), "./" + p.folder}
		}
		if !slices.ContainsFunc(list, func(other []string) bool { return slices.Equal(other, args) }) {
			list = append(list, args)
		}
	}
	return list
}

// play runs the parts: first those alone, then the lanes beside each other.
func (t *table) play(ctx context.Context, chosen []part) error {
	lanes := map[string][]part{}
	for _, p := range chosen {
		lanes[p.lane] = append(lanes[p.lane], p)
	}
	t.playLane(ctx, lanes[alone])
	delete(lanes, alone)
	var all sync.WaitGroup
	for _, lane := range lanes {
		all.Go(func() { t.playLane(ctx, lane) })
	}
	all.Wait()
	return context.Cause(ctx)
}

func (t *table) playLane(ctx context.Context, lane []part) {
	for _, p := range lane {
		if ctx.Err() == nil {
			r := p.play(ctx)
			t.mu.Lock()
			t.rows = append(t.rows, r)
			fmt.Print(r)
			t.mu.Unlock()
		}
	}
}

// play runs a part to its end, and ends everything that the part has left.
func (p part) play(ctx context.Context) (r row) {
	if p.quiet {
		began := time.Now()
		if busy, err := awaitQuiet(ctx); err != nil {
			return row{part: p.name, result: notQuiet, took: time.Since(began), use: busy, figures: []string{err.Error()}}
		}
	}
	fmt.Println("running:", p.name)
	name := filepath.Join(logs, p.name+".log")
	before, began := machineUse(), time.Now()
	ended, err := p.execute(ctx, name)
	r = row{part: p.name, result: green, took: time.Since(began), figures: figures(name)}
	r.use = machineUse().since(before, ended)
	if err == nil && len(r.figures) == 0 {
		err = errNoFigures
	}
	if err != nil {
		r.result, r.figures = red, append(r.figures, fmt.Sprintf("%v: see %s", err, name))
		if p.quiet && !r.use.quietEnough() {
			r.result = notQuiet
		}
	}
	return r
}

// execute runs the program of a part in a process group of its own, with a log.
func (p part) execute(ctx context.Context, name string) (*os.ProcessState, error) {
	const dump = time.Minute // a test that ends by its own limit prints where it hangs
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.limit)*time.Minute+dump)
	defer cancel()
	program, err := filepath.Abs(p.program())
	if err != nil {
		return nil, err
	}
	log, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, program, p.arguments()...)
	cmd.Stdout, cmd.Stderr = log, log
	if p.test != "" {
		cmd.Dir = p.folder // as go test does
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // children that a broken test has left, also frozen ones
	return cmd.ProcessState, err
}

// removeAll removes a directory. Servers may still be closing their files in it.
func removeAll(dir string) {
	for deadline := time.Now().Add(5 * time.Second); os.RemoveAll(dir) != nil && time.Now().Before(deadline); {
		<-time.After(100 * time.Millisecond)
	}
}
