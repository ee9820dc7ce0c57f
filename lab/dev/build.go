package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// generator is a command that generates code, and the sources that it reads.
type generator struct {
	sources string // directory
	ending  string // of the sources' names
	command []string
}

// generators are those of scripts/generate.sh that the service's code depends on.
var generators = []generator{
	{sources: "adapters/postgres", ending: ".sql", command: []string{"sqlc", "generate", "-f", "adapters/postgres/sqlc.yaml"}},
	{sources: "adapters", ending: ".templ", command: []string{"templ", "generate", "-log-level", "warn"}},
	{sources: "adapters/http/partnerapi", ending: ".yaml", command: []string{"go", "generate", "./adapters/http/partnerapi"}},
}

// build runs the generators whose sources are in changed, then builds the command to the path out. The error contains
// the output of the tool that failed.
func (l *loop) build(ctx context.Context, changed []string, out string) error {
	for _, g := range l.generators {
		if !slices.ContainsFunc(changed, func(path string) bool { return g.reads(l.root, path) }) {
			continue
		}
		if _, err := exec.LookPath(g.command[0]); err != nil {
			return fmt.Errorf("%s is not installed: run `make generate` once", g.command[0])
		}
		if err := l.tool(ctx, g.command...); err != nil {
			return err
		}
	}
	return l.tool(ctx, "go", "build", "-o", out, l.command)
}

func (g generator) reads(root, path string) bool {
	relative, err := filepath.Rel(filepath.Join(root, g.sources), path)
	return err == nil && !strings.HasPrefix(relative, "..") && strings.HasSuffix(path, g.ending)
}

// tool runs a command in the root. When ctx ends, the command and all its children are killed.
func (l *loop) tool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // commands of this file
	cmd.Dir = l.root
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
