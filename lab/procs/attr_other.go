//go:build !linux

package procs

import "syscall"

// attributes put a process in a group of its own, so that Ctrl-C reaches only its owner. Only Linux has a parent-death
// signal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
