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

// PreventTestCaching keeps Go's test cache from reusing the result of the running test binary. The cache compares
// the files and variables that a test reads itself, but not those that a command reads. All functions of this
// package that start a command call PreventTestCaching.
//
// Go caches no result of a test that looked at a file of its module which is as new as the test's end, since the
// file might have changed meanwhile. PreventTestCaching therefore looks at a file with a time in the future.
func PreventTestCaching() {
	folder := FindFolderAbove("go.mod")
	if folder == "" {
		// Without a go.mod above the working directory, the test belongs to no module whose results Go caches.
		return
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

// Command returns an exec.Cmd for a test, and keeps Go from caching the test's result.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	PreventTestCaching()
	return exec.CommandContext(ctx, name, args...) //nolint:gosec // the commands are those of tests
}

// FindFolderAbove returns the nearest folder that contains a file, from the working directory upwards; "" if there is
// none.
func FindFolderAbove(file string) string {
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

// EnsureDebianPackages installs the Debian packages that provide some programs, such as "chromium", unless the
// machine has them. scripts/ensure-debian.sh lists the names of the programs.
func EnsureDebianPackages(needs ...string) error {
	const script = "scripts/ensure-debian.sh"
	cmd := exec.Command(filepath.Join(FindFolderAbove(script), script), needs...) //nolint:gosec,noctx // it ends by itself
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		// sudo must not ask for a password: without a terminal nobody can type one.
		cmd.Env = append(os.Environ(), "SUDO=sudo -n")
		// The installation runs in a process group of its own, so that Ctrl-C does not interrupt the package
		// manager.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, said)
	}
	return nil
}
