package backing

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
)

// installScript installs packages, but lets them neither start a service nor make a cluster; it removes its policy
// files afterwards. Package lists are fetched only after a first attempt fails.
//
//go:embed install.sh
var installScript string

// installLimit bounds an apt-get run, package lists included.
const installLimit = 5 * time.Minute

// fromApt installs the server where possible, then runs it like any binary of the machine.
func (s service) fromApt(ctx context.Context, o Options) (*Server, string, error) {
	if s.hasNative(o.machine) {
		return nil, "", errors.New("nothing to install, the server is there")
	}
	if err := s.install(ctx, o); err != nil {
		return nil, "", err
	}
	server, how, err := s.native(ctx, o)
	return server, how + ", installed with apt-get", err
}

// install makes sure that the machine has the server's binary.
func (s service) install(ctx context.Context, o Options) error {
	m := o.machine
	if s.hasNative(m) {
		return nil
	}
	if err := m.canInstall(); err != nil {
		return err
	}
	unlock, err := m.lockInstall()
	if err != nil {
		return err
	}
	defer unlock()
	if s.hasNative(m) { // another process may have installed the server meanwhile
		return nil
	}
	o.Logf("services: no %s here: installing it with apt-get install %s (no system service is started)", s.name, s.debian)
	begin := time.Now()
	if err := m.install(ctx, s.debian); err != nil {
		return fmt.Errorf("install %s: %w", s.debian, err)
	}
	o.Logf("services: installed %s in %.0f s", s.debian, time.Since(begin).Seconds())
	return nil
}

func (m *machine) canInstall() error {
	if !m.debian() {
		return errors.New("this is not a Debian or Ubuntu")
	}
	if _, err := m.lookPath("apt-get"); err != nil {
		return errors.New("there is no apt-get in PATH")
	}
	if m.euid() == 0 {
		return nil
	}
	if _, err := m.lookPath("sudo"); err != nil {
		return errors.New("we are neither root nor is there sudo")
	}
	return nil
}

func (m *machine) debian() bool {
	release, err := m.readFile("/etc/os-release")
	return err == nil && debianLike(string(release))
}

var debianID = regexp.MustCompile(`(?m)^ID(_LIKE)?=.*\b(debian|ubuntu)\b`)

func debianLike(release string) bool { return debianID.MatchString(release) }

// install lets apt-get finish even when ctx ends: interrupting a package manager leaves packages half installed.
func (m *machine) install(ctx context.Context, packages ...string) error {
	done := make(chan error, 1)
	go func() {
		output, err := m.runRoot(installScript, packages...)
		if err != nil && len(output) > 0 {
			lines := strings.Split(strings.TrimRight(string(output), "\n"), "\n")
			err = fmt.Errorf("%w; it says:\n%s", err, strings.Join(lines[max(0, len(lines)-12):], "\n"))
		}
		done <- err
	}()
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("it has not ended yet: %w", ctx.Err())
	}
}

// runAsRoot runs a shell script as root, with sudo if necessary; sudo may ask for a password on a terminal.
func (m *machine) runAsRoot(script string, args ...string) ([]byte, error) {
	argv := append([]string{"/bin/sh", "-c", script, "install"}, args...)
	if m.euid() != 0 {
		if err := exec.Command("sudo", "-n", "true").Run(); err != nil && !askPassword() {
			return nil, errors.New("sudo wants a password and there is no terminal to ask for it")
		}
		argv = append([]string{"sudo", "-n"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not interrupt the package manager
	return cmd.CombinedOutput()
}

func askPassword() bool {
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		return false
	}
	ask := exec.Command("sudo", "-v")
	ask.Stdin, ask.Stdout, ask.Stderr = os.Stdin, os.Stderr, os.Stderr
	return ask.Run() == nil
}

// lockInstall makes the test binaries of a run install in turn.
func (m *machine) lockInstall() (unlock func(), err error) {
	if m.cacheDir == "" {
		return func() {}, nil // without the lock file, apt-get's own lock serves
	}
	if err := os.MkdirAll(m.cacheDir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(m.cacheDir, "install.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}
