//go:build !linux

package backing

// Systems other than Linux have neither a parent-death signal (procs.StartWithDeathSignal) nor /proc: there
// only Close ends a server.

func processesIn(string) []int { return nil }

func memoryDir(uint64) string { return "" }

func removeSharedMemory(string) {}
