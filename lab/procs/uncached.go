package procs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
)

// Uncached keeps Go's cache from serving the results of this test program ever again. The cache compares the files and
// variables that a test reads itself, and knows nothing of those that a command reads. Start, Run, Build and Command
// call Uncached.
//
// Go keeps no result of a test that looked at a file of its module which is as new as the test's end, since the file
// might have changed meanwhile. Uncached looks at a file from the future.
func Uncached() {
	folder := Above("go.mod")
	if folder == "" {
		return // no test of this module
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

// Above is the nearest folder that has a file, from the working directory upwards; "" for none.
func Above(file string) string {
	folder, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			break
		}
		folder = filepath.Dir(folder)
	}
	return ""
}

// EnsureDebian installs what the machine lacks of some needs, which scripts/ensure-debian.sh knows.
func EnsureDebian(needs ...string) error {
	const script = "scripts/ensure-debian.sh"
	cmd := exec.Command(filepath.Join(Above(script), script), needs...) //nolint:gosec,noctx // it ends by itself
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		cmd.Env = append(os.Environ(), "SUDO=sudo -n")        // nobody types a password
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not interrupt the package manager
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, said)
	}
	return nil
}
