//go:build !linux

package backing

// Without Linux's parent-death signal (procs.StartWithDeathSignal) and /proc, only Close ends a server.

func processesIn(string) []int { return nil }

func memoryDir(uint64) string { return "" }

func removeSharedMemory(string) {}
