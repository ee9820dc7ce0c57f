//go:build !linux

package procs

import "syscall"

func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
