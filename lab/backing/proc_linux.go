package backing

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processesIn returns the ids of the processes whose working directory is dir or below: a server with all its
// children.
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

// memoryDir returns the directory of a file system in memory with at least this many free bytes, or "". A Postgres
// database is created there in a fifth of the time.
func memoryDir(room uint64) string {
	const dir = "/dev/shm"
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil || stat.Type != unix.TMPFS_MAGIC ||
		stat.Bavail*uint64(stat.Bsize) < room {
		return ""
	}
	return dir
}

// removeSharedMemory removes the System V shared memory segment that a killed Postgres leaves behind. The last
// number in line 7 of postmaster.pid is the segment's id.
func removeSharedMemory(dataDir string) {
	text, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		// There is no postmaster.pid: an orderly stop has removed the file and the shared memory.
		return
	}
	if lines := strings.Split(string(text), "\n"); len(lines) >= 7 {
		_, id, _ := strings.Cut(strings.TrimSpace(lines[6]), " ")
		if segment, err := strconv.Atoi(strings.TrimSpace(id)); err == nil {
			_, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil)
		}
	}
}
