package backing

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// home is the private directory of a started server: its data, its log and its cleaner process.
type home struct {
	dir string // Path of the server's directory, without symbolic links.
	// Path of the server's data, closed to other users.
	data string
	// The operating system's user that runs the server; nil: the user of this process.
	cred *syscall.Credential
	log  *os.File

	// cleaner removes the server and its directory after this process has ended, which closes the pipe tie.
	cleaner *exec.Cmd
	tie     io.WriteCloser
}

// newHome makes a server's private directory and cleaner process. For root, the server runs as the user nobody.
func newHome(o Options) (*home, error) {
	dirs := o.machine.tempDirs
	if o.InMemory || o.FastUnsafe {
		dirs = append([]string{o.machine.fastDir}, dirs...)
	}
	h := &home{}
	if o.machine.euid() == 0 {
		if err := h.asNobody(); err != nil {
			return nil, err
		}
	}
	parent, err := h.reachableTemp(dirs)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "partnerdeposits-")
	if err != nil {
		return nil, err
	}
	h.dir, h.data = dir, filepath.Join(dir, "data")
	if err := h.furnish(); err != nil {
		h.remove()
		return nil, err
	}
	return h, nil
}

func (h *home) asNobody() error {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, errUID := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(nobody.Gid, 10, 32)
	h.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(errUID, errGID)
}

// reachableTemp returns the first directory that the server's user may enter.
func (h *home) reachableTemp(dirs []string) (string, error) {
	for _, dir := range dirs {
		resolved, err := filepath.EvalSymlinks(dir)
		if dir != "" && err == nil && (h.cred == nil || openToAll(resolved)) {
			return resolved, nil
		}
	}
	return "", errors.New("no temporary directory that an unprivileged user can enter")
}

func openToAll(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

func (h *home) furnish() error {
	err := h.startCleaner()
	if err != nil {
		return fmt.Errorf("start the cleaner: %w", err)
	}
	h.log, err = os.OpenFile(filepath.Join(h.dir, "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	return errors.Join(err, os.Chmod(h.dir, 0o711), os.Mkdir(h.data, 0o700), h.own(h.data))
}

func (h *home) own(path string) error {
	if h.cred == nil {
		return nil
	}
	return os.Chown(path, int(h.cred.Uid), int(h.cred.Gid))
}

// write writes a file in the server's data directory, owned by the server's user.
func (h *home) write(name, text string) error {
	path := filepath.Join(h.data, name)
	return errors.Join(os.WriteFile(path, []byte(text), 0o600), h.own(path))
}

// command returns a command that runs as the server's user in the data directory, without this process's
// environment.
func (h *home) command(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = h.data
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + h.data}
	cmd.Stdout, cmd.Stderr = h.log, h.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.cred}
	return cmd
}

func (h *home) userName() string {
	if h.cred == nil {
		return "the current user"
	}
	return "user nobody"
}

const logTail = 4 << 10

// tail returns the last 4 KiB of the server's log, or the error of reading it.
func (h *home) tail() string {
	text, err := os.ReadFile(h.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}

// remove deletes the server's directory. The server must have ended before.
func (h *home) remove() {
	removeSharedMemory(h.data)
	if h.log != nil {
		_ = h.log.Close()
	}
	err := os.RemoveAll(h.dir)
	if h.cleaner == nil {
		return
	}
	// After an error a process may still be closing files: then the cleaner process removes the directory again.
	if err == nil {
		_ = h.cleaner.Process.Kill()
	}
	_ = h.tie.Close()
	_ = h.cleaner.Wait()
}

// cleanerScript waits for the end of this process, kills the server's processes after two seconds, and removes the
// directory. It first resumes suspended processes, so that they receive the kernel's signal.
//
//go:embed cleaner.sh
var cleanerScript string

func (h *home) startCleaner() (err error) {
	cmd := exec.Command("/bin/sh", "-c", cleanerScript, "cleaner", h.dir)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if h.tie, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err = cmd.Start(); err == nil {
		h.cleaner = cmd
	}
	return err
}
