package procs

import "syscall"

// attributes put a process in a group of its own, so that Ctrl-C reaches only its owner, and let the kernel kill the
// process when the owner dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
