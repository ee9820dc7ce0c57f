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

// forcing names the only source in which a Postgres or a Redis is searched.
const forcing = "TEST_SERVICES"

// service describes how a Postgres or a Redis is found or started.
type service struct {
	name                 string
	testsEnv, sandboxEnv string
	debian               string
	// What an error message advises to install, on a system without apt-get.
	whatToHave string
	image      string
	checkURL   func(ctx context.Context, url string) error
	hasNative  func(*machine) bool
	native     func(context.Context, Options) (server *Server, how string, err error)
	container  func(Options) containerSpec
}

// source is a place that may provide a Postgres or a Redis: the environment, Docker, a server binary or apt-get.
type source struct {
	name  string
	start func(ctx context.Context, o Options) (server *Server, how string, err error)
}

// finalError ends the search for a server: no other server may silently replace one that the environment names.
type finalError struct{ error }

func (s service) envName(p ServerPurpose) string {
	if p == PurposeSandbox {
		return s.sandboxEnv
	}
	return s.testsEnv
}

// sources returns the sources of a server in the order in which they are tried.
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
	if o.Purpose == PurposeSandbox {
		list = []source{env, native, docker, apt}
	}
	if o.Private {
		list = list[1:]
	}
	return list, nil
}

// obtain returns the server of the first source that provides one.
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

// unavailable returns the error if no source provides a server: what to install, then the failure of each source.
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

// machine is what the search for a server must know about this machine. Tests replace it by a fake.
type machine struct {
	getenv   func(string) string
	lookPath func(string) (string, error)
	glob     func(string) ([]string, error)
	euid     func() int
	docker   func() (*dockertest.Pool, error)
	install  func(needs ...string) error
	cacheDir string
	// Directories for a server's data, in order of preference.
	tempDirs []string
	// Directory in memory for data that may be lost; "": none.
	fastDir string

	// Time limit for the first progress of the pull of an image.
	registryAnswers time.Duration
	// Time limit for the pull of an image when other sources of a server are left.
	pullBound time.Duration
}

func thisMachine() *machine {
	return &machine{
		getenv:   os.Getenv,
		lookPath: exec.LookPath,
		glob:     filepath.Glob,
		euid:     os.Geteuid,
		install:  procs.EnsureDebianPackages,
		docker:   func() (*dockertest.Pool, error) { return dockertest.NewPool("") },
		cacheDir: cacheDir(),
		tempDirs: []string{os.TempDir(), "/tmp", "/var/tmp"},
		// 2 GB in memory are enough for several test binaries in parallel.
		fastDir:         memoryDir(2 << 30),
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

// postgresBin returns the directory of initdb and postgres: from PATH, or of the newest version; false: none.
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
	// The directories of Debian's and Red Hat's Postgres packages.
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"} {
		// Glob never fails here: the patterns are well-formed.
		dirs, _ := m.glob(pattern)
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

// redisServer returns the path of redis-server or valkey-server; false: neither exists.
func (m *machine) redisServer() (string, bool) {
	// Redis may be in system directories that the PATH of a user lacks.
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

// dirVersion returns the version in the path of a Postgres directory: 15 for /usr/lib/postgresql/15/bin.
func dirVersion(bin string) float64 {
	name := strings.TrimPrefix(filepath.Base(filepath.Dir(bin)), "pgsql-")
	// A directory name without a number counts as Postgres version 0.
	version, _ := strconv.ParseFloat(name, 64)
	return version
}
