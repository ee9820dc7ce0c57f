package backing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ory/dockertest/v3"

	"partnerdeposits/lab/procs"
)

// forcing is the environment variable that selects a single source.
const forcing = "TEST_SERVICES"

// service describes how to find a Postgres or a Redis.
type service struct {
	name                 string
	testsEnv, sandboxEnv string
	debian               string // package to install
	whatToHave           string // for the message on a system without apt-get
	image                string
	checkURL             func(ctx context.Context, url string) error
	hasNative            func(*machine) bool
	native               func(context.Context, Options) (server *Server, how string, err error)
	container            func(Options) containerSpec
}

// source is a place where a server may come from. The error of start says in a few words why the source has none.
type source struct {
	name  string
	start func(ctx context.Context, o Options) (server *Server, how string, err error)
}

// finalError ends the search: a server that the environment names must not be replaced silently.
type finalError struct{ error }

func (s service) envName(p Purpose) string {
	if p == Sandbox {
		return s.sandboxEnv
	}
	return s.testsEnv
}

// sources lists the sources in the order of trying.
func (s service) sources(o Options) ([]source, error) {
	env := source{"env", s.fromEnv}
	native := source{"native", s.native}
	docker := source{"docker", s.fromDocker}
	apt := source{"apt-get", s.fromApt}
	switch forced := o.machine.getenv(forcing); forced {
	case "env":
		if !o.Private {
			return []source{env}, nil
		}
	case "native":
		return []source{native, apt}, nil
	case "docker":
		return []source{docker}, nil
	case "none":
		return nil, fmt.Errorf(
			"%s=none: no server is started for these tests; a test file that needs one begins with //go:build !unit", forcing)
	case "":
	default:
		return nil, fmt.Errorf("%s is %q; it takes env, native, docker or none", forcing, forced)
	}
	list := []source{env, docker, native, apt}
	if o.Purpose == Sandbox {
		list = []source{env, native, docker, apt}
	}
	if o.Private {
		list = list[1:]
	}
	return list, nil
}

// obtain tries the sources until a source gives a server.
func (s service) obtain(ctx context.Context, o Options) (*Server, error) {
	list, err := s.sources(o)
	if err != nil {
		return nil, err
	}
	var passed []string
	for _, from := range list {
		server, how, err := from.start(ctx, o)
		if err == nil {
			if forced := o.machine.getenv(forcing); forced != "" {
				passed = slices.Insert(passed, 0, forcing+"="+forced)
			}
			if server.choice = how; len(passed) > 0 {
				server.choice += " (" + strings.Join(passed, "; ") + ")"
			}
			return server, nil
		}
		if errors.As(err, &finalError{}) || ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		passed = append(passed, from.name+": "+err.Error())
	}
	return nil, s.unavailable(o, passed)
}

// unavailable is the message for a machine without any source: advice first, then the failure of each source.
func (s service) unavailable(o Options, passed []string) error {
	command := ""
	if o.machine.canInstall() == nil {
		command = " with \"sudo apt-get install " + s.debian + "\""
	}
	advice := fmt.Sprintf("install %s%s, or set %s", s.whatToHave, command, s.envName(o.Purpose))
	if forced := o.machine.getenv(forcing); forced != "" {
		advice += fmt.Sprintf(", or unset %s (it is %q)", forcing, forced)
	} else {
		advice += fmt.Sprintf(", or start Docker and pull %s", s.image)
	}
	return fmt.Errorf("%s is needed and none is there: %s\n  - %s", s.name, advice, strings.Join(passed, "\n  - "))
}

func (s service) fromEnv(ctx context.Context, o Options) (*Server, string, error) {
	name := s.envName(o.Purpose)
	given := o.machine.getenv(name)
	if given == "" {
		return nil, "", fmt.Errorf("%s is not set", name)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.checkURL(ctx, given); err != nil {
		return nil, "", finalError{fmt.Errorf("%s is set, but the server does not answer: %w", name, err)}
	}
	return &Server{url: given}, name, nil
}

// machine answers all questions about the machine that the choice of a source depends on.
type machine struct {
	getenv   func(string) string
	lookPath func(string) (string, error)
	glob     func(string) ([]string, error)
	euid     func() int
	docker   func() (*dockertest.Pool, error)
	install  func(needs ...string) error // see procs.EnsureDebian
	cacheDir string
	tempDirs []string // candidates for a server's data, in order of preference
	fastDir  string   // for data that may be lost; "" if the machine has no such file system

	registryAnswers time.Duration // time limit for the first sign of progress of a pull
	pullBound       time.Duration // time limit for a pull when other sources are left
}

func thisMachine() *machine {
	return &machine{
		getenv:          os.Getenv,
		lookPath:        exec.LookPath,
		glob:            filepath.Glob,
		euid:            os.Geteuid,
		install:         procs.EnsureDebian,
		docker:          func() (*dockertest.Pool, error) { return dockertest.NewPool("") },
		cacheDir:        cacheDir(),
		tempDirs:        []string{os.TempDir(), "/tmp", "/var/tmp"},
		fastDir:         memoryDir(2 << 30), // enough for several test binaries in parallel
		registryAnswers: 3 * time.Second,
		pullBound:       10 * time.Second,
	}
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "partnerdeposits", "backing")
}

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
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"} { // where packages put versions
		dirs, _ := m.glob(pattern) // the patterns are right
		for _, dir := range dirs {
			if m.executable(filepath.Join(dir, "initdb")) && m.executable(filepath.Join(dir, "postgres")) {
				found = append(found, dir)
			}
		}
	}
	if len(found) == 0 {
		return "", false
	}
	return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(dirVersion(a), dirVersion(b)) }), true
}

// redisServer is the path of a Redis server, or of Valkey, which has the same protocol.
func (m *machine) redisServer() (string, bool) {
	// A user's PATH may lack the system directories.
	beyond := []string{"/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server"}
	for _, name := range append([]string{"redis-server", "valkey-server"}, beyond...) {
		if path, err := m.lookPath(name); err == nil {
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
	version, _ := strconv.ParseFloat(name, 64) // 0 then
	return version
}
