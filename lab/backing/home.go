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

// home is the private directory of a started Postgres or Redis: its data, its log, and the process that removes
// the directory.
type home struct {
	dir string // Path of the server's directory, without symbolic links.
	// Path of the data, owned by the server's user and closed to other users.
	data string
	// The operating system's user that runs the server; nil: the user of this process.
	cred *syscall.Credential
	log  *os.File

	// cleaner is a small shell process that outlives this process and removes the server and its directory after a
	// sudden end. It waits for the end of a pipe; tie is the pipe's only write end, which no child inherits.
	cleaner *exec.Cmd
	tie     io.WriteCloser
}

// newHome makes the private directory of a server, and starts the shell process that removes the directory once
// this process has ended. If this process is root, the server runs as the user nobody.
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

// reachableTemp returns the first directory of the list that the server's user may enter, or an error.
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

// own makes the server's user the owner of a file or directory.
func (h *home) own(path string) error {
	if h.cred == nil {
		return nil
	}
	return os.Chown(path, int(h.cred.Uid), int(h.cred.Gid))
}

// write writes a text to a file in the server's data directory, owned by the server's user.
func (h *home) write(name, text string) error {
	path := filepath.Join(h.data, name)
	return errors.Join(os.WriteFile(path, []byte(text), 0o600), h.own(path))
}

// command returns a command that runs in the server's data directory as the server's user, writes to the server's
// log, and inherits none of this process's environment.
func (h *home) command(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = h.data
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + h.data}
	cmd.Stdout, cmd.Stderr = h.log, h.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.cred}
	return cmd
}

// userName names the operating system's user that runs the server, for the log line about the chosen source.
func (h *home) userName() string {
	if h.cred == nil {
		return "the current user"
	}
	return "user nobody"
}

// logTail is how many bytes at the end of a server's log are read for an error message.
const logTail = 4 << 10

// tail returns the last 4 KiB of the server's log, or the error of reading it.
func (h *home) tail() string {
	text, err := os.ReadFile(h.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}

// remove deletes the server's directory and ends the cleaner process. The server must have ended before.
func (h *home) remove() {
	removeSharedMemory(h.data)
	if h.log != nil {
		_ = h.log.Close()
	}
	err := os.RemoveAll(h.dir)
	if h.cleaner == nil {
		return
	}
	// After an error a process may still be closing its files: then the cleaner process removes the directory again.
	if err == nil {
		_ = h.cleaner.Process.Kill()
	}
	_ = h.tie.Close()
	_ = h.cleaner.Wait()
}

// cleanerScript is a shell script that removes a server and its directory after this process has ended. It waits
// for the end of its standard input, which comes with the end of this process, for any reason. Then it resumes
// suspended processes, so that they receive the kernel's signal, kills the remaining processes after two seconds,
// and removes the directory.
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
