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

// PreventTestCaching keeps Go from caching the result of the running test, since the cache does not see what
// commands read. It looks at a file with a future time: Go caches no result of a test that saw a file as new as
// the test's end.
func PreventTestCaching() {
	folder := FindFolderAbove("go.mod")
	if folder == "" {
		// Without a go.mod above, Go caches no results of the test.
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

// Command returns an exec.Cmd, and keeps Go from caching the test's result.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	PreventTestCaching()
	return exec.CommandContext(ctx, name, args...) //nolint:gosec // the commands are those of tests
}

// FindFolderAbove returns the nearest folder with a file, from the working directory upwards; "": none.
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

// EnsureDebianPackages installs the Debian packages of missing programs, whose names are in
// scripts/ensure-debian.sh.
func EnsureDebianPackages(needs ...string) error {
	const script = "scripts/ensure-debian.sh"
	cmd := exec.Command(filepath.Join(FindFolderAbove(script), script), needs...) //nolint:gosec,noctx // it ends by itself
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		// Without a terminal nobody can type a password for sudo.
		cmd.Env = append(os.Environ(), "SUDO=sudo -n")
		// A process group of its own keeps Ctrl-C from the package manager.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, said)
	}
	return nil
}
