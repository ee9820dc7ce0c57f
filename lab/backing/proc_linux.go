package backing

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processesIn returns the ids of the processes that work in dir or below.
func processesIn(dir string) []int {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil
	}
	var pids []int
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err != nil || (cwd != dir && !strings.HasPrefix(cwd, dir+"/")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// memoryDir returns a directory in memory with this many free bytes, or "". Postgres creates a database there in a
// fifth of the time.
func memoryDir(room uint64) string {
	const dir = "/dev/shm"
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil || stat.Type != unix.TMPFS_MAGIC ||
		stat.Bavail*uint64(stat.Bsize) < room {
		return ""
	}
	return dir
}

// removeSharedMemory removes the shared memory of a killed Postgres, whose id is the last number in line 7 of
// postmaster.pid.
func removeSharedMemory(dataDir string) {
	text, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		// Without postmaster.pid, an orderly stop has removed the shared memory.
		return
	}
	if lines := strings.Split(string(text), "\n"); len(lines) >= 7 {
		_, id, _ := strings.Cut(strings.TrimSpace(lines[6]), " ")
		if segment, err := strconv.Atoi(strings.TrimSpace(id)); err == nil {
			_, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil)
		}
	}
}
