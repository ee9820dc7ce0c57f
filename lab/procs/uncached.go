package procs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Uncached keeps Go's cache from serving the results of this test program ever again. The cache compares the files and
// variables that a test reads itself, and knows nothing of those that a command reads. Start, Run, Build and Command
// call Uncached.
//
// Go keeps no result of a test that looked at a file of its module which is as new as the test's end, since the file
// might have changed meanwhile. Uncached looks at a file from the future.
func Uncached() {
	folder, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		if folder == filepath.Dir(folder) {
			return // no test of this module
		}
		folder = filepath.Dir(folder)
	}
	local := filepath.Join(folder, ".local")
	file := filepath.Join(local, "uncached")
	future := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	_ = os.MkdirAll(local, 0o755)
	if opened, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = opened.Close()
		_ = os.Chtimes(file, future, future)
	}
	_, _ = os.Stat(file)
}

// Command is exec.CommandContext for tests.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	Uncached()
	return exec.CommandContext(ctx, name, args...) //nolint:gosec // the commands are those of tests
}
