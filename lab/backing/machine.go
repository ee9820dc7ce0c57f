package backing

import (
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/ory/dockertest/v3"
)

// machine answers all questions about the machine that the choice of a source depends on.
type machine struct {
	getenv   func(string) string
	lookPath func(string) (string, error)
	glob     func(string) ([]string, error)
	readFile func(string) ([]byte, error)
	euid     func() int
	docker   func() (*dockertest.Pool, error)
	runRoot  func(script string, args ...string) ([]byte, error) // runs a shell script as root
	cacheDir string
	tempDirs []string // candidates for a server's data, in order of preference
	fastDir  string   // for data that may be lost; "" if the machine has no such file system

	registryAnswers time.Duration // time limit for the first sign of progress of a pull
	pullBound       time.Duration // time limit for a pull when other sources are left
}

// fastRoom is enough memory for several test binaries in parallel, each with a few hundred MB.
const fastRoom = 2 << 30

func thisMachine() *machine {
	m := &machine{
		getenv:          os.Getenv,
		lookPath:        exec.LookPath,
		glob:            filepath.Glob,
		readFile:        os.ReadFile,
		euid:            os.Geteuid,
		docker:          func() (*dockertest.Pool, error) { return dockertest.NewPool("") },
		cacheDir:        cacheDir(),
		tempDirs:        []string{os.TempDir(), "/tmp", "/var/tmp"},
		fastDir:         memoryDir(fastRoom),
		registryAnswers: 3 * time.Second,
		pullBound:       10 * time.Second,
	}
	m.runRoot = m.runAsRoot
	return m
}

func cacheDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "partnerdeposits", "backing")
	}
	return ""
}

// binDirs are the places outside PATH where packages put a versioned Postgres.
var binDirs = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"}

// postgresBin is the directory with initdb and postgres: from PATH if both are there, else the newest version.
func (m *machine) postgresBin() (string, bool) {
	if initdb, err := m.lookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(initdb); err == nil {
			initdb = resolved
		}
		if dir := filepath.Dir(initdb); m.executable(filepath.Join(dir, "postgres")) {
			return dir, true
		}
	}
	var found []string
	for _, pattern := range binDirs {
		dirs, err := m.glob(pattern)
		if err != nil {
			continue
		}
		for _, dir := range dirs {
			if m.executable(filepath.Join(dir, "initdb")) && m.executable(filepath.Join(dir, "postgres")) {
				found = append(found, dir)
			}
		}
	}
	if len(found) == 0 {
		return "", false
	}
	sort.SliceStable(found, func(i, j int) bool { return dirVersion(found[i]) > dirVersion(found[j]) })
	return found[0], true
}

// redisServer is the path of a Redis server, or of Valkey, which has the same protocol.
func (m *machine) redisServer() (string, bool) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := m.lookPath(name); err == nil {
			return path, true
		}
	}
	// A user's PATH may lack the system directories.
	for _, path := range []string{"/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server"} {
		if m.executable(path) {
			return path, true
		}
	}
	return "", false
}

func (m *machine) executable(path string) bool {
	_, err := m.lookPath(path)
	return err == nil
}

// dirVersion reads 15 out of /usr/lib/postgresql/15/bin and /usr/pgsql-15/bin.
func dirVersion(bin string) float64 {
	name := strings.TrimPrefix(filepath.Base(filepath.Dir(bin)), "pgsql-")
	version, err := strconv.ParseFloat(name, 64)
	if err != nil {
		return 0
	}
	return version
}
