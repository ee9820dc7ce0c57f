//go:build !linux

package backing

import "syscall"

// Other systems have neither a parent-death signal nor /proc: there only Close ends a server.

func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}

func processesIn(string) []int { return nil }

func memoryDir(uint64) string { return "" }

func removeSharedMemory(string) {}
