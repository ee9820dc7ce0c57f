package backing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// asParent makes this test binary, run again, a process that owns servers and waits to be killed.
const asParent = "BACKING_TEST_AS_PARENT"

// asNeighbour makes this test binary, run again, a process that asks for a port.
const asNeighbour = "BACKING_TEST_AS_NEIGHBOUR"

func TestMain(m *testing.M) {
	if what := os.Getenv(asParent); what != "" {
		beParent(what)
	}
	if port, err := strconv.Atoi(os.Getenv(asNeighbour)); err == nil {
		fmt.Print(keepPort(port))
		os.Exit(0)
	}
	os.Exit(RunTests(m))
}

// realMachine is this machine with a single source forced, or without a forced source for "".
func realMachine(t testing.TB, forced string) *machine {
	m := thisMachine()
	m.getenv = environment(map[string]string{forcing: forced})
	m.cacheDir = t.TempDir()
	return m
}

// bareMachine has no source at all.
func bareMachine(t testing.TB) *machine {
	return &machine{
		getenv:          environment(nil),
		lookPath:        func(string) (string, error) { return "", exec.ErrNotFound },
		glob:            func(string) ([]string, error) { return nil, nil },
		euid:            func() int { return 1000 },
		docker:          func() (*dockertest.Pool, error) { return nil, errors.New("none") },
		cacheDir:        t.TempDir(),
		tempDirs:        []string{os.TempDir(), "/tmp"},
		registryAnswers: 200 * time.Millisecond,
		pullBound:       time.Second,
		install:         func(...string) error { return errors.New("nothing may be installed here") },
	}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func startPostgres(t testing.TB, o Options) *Server {
	t.Helper()
	return started(t, StartPostgres, o)
}

func startRedis(t testing.TB, o Options) *Server {
	t.Helper()
	return started(t, StartRedis, o)
}

func started(t testing.TB, start func(context.Context, Options) (*Server, error), o Options) *Server {
	t.Helper()
	if o.Logf == nil {
		o.Logf = t.Logf
	}
	if o.machine == nil {
		o.machine = realMachine(t, "native")
	}
	server, err := start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

func query[T any](t testing.TB, s *Server, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var answer T
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}

func execute(t testing.TB, s *Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func redisClient(t testing.TB, s *Server) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(s.URL())
	require.NoError(t, err)
	options.MaxRetries, options.DialerRetries = -1, 1
	client := redis.NewClient(options)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func homeOf(s *Server) string { return s.control.(*nativeServer).home.dir }

// gone tells whether a directory is removed and no process is left in it.
func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, os.ErrNotExist) && len(processesIn(dir)) == 0
}

// alive tells whether a process runs. A zombie does not count.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// parentReport is a parent process's report about its servers.
type parentReport struct {
	Dirs       []string
	Pids       []int
	Containers []string
}

// beParent starts both servers as sources and states say, such as "native/running" or "docker/paused", reports them,
// and waits for its end.
func beParent(what string) {
	forced, state, _ := strings.Cut(what, "/")
	m := thisMachine()
	m.getenv = environment(map[string]string{forcing: forced})
	s, err := StartPostgresAndRedis(context.Background(), Options{machine: m})
	if err != nil {
		panic(err)
	}
	var report parentReport
	for _, server := range []*Server{s.Postgres, s.Redis} {
		if c, ok := server.control.(*containerServer); ok {
			report.Containers = append(report.Containers, c.resource.ID)
			continue
		}
		report.Dirs = append(report.Dirs, homeOf(server))
		report.Pids = append(report.Pids, processesIn(homeOf(server))...)
	}
	if state == "paused" {
		if err := errors.Join(s.Postgres.Pause(), s.Redis.Pause()); err != nil {
			panic(err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		panic(err)
	}
	select {}
}

// writeExecutable makes an executable file that lookups find.
func writeExecutable(t testing.TB, path, script string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(strings.TrimSpace(script)+"\n"), 0o755))
}
