// Package backing gives tests and the sandbox a real Postgres and a real Redis from any source that the machine offers.
//
// The sources in the order of trying:
//
//	tests     TEST_DATABASE_URL, TEST_REDIS_URL → Docker → server binaries → apt-get install
//	sandbox   DATABASE_URL, REDIS_URL           → server binaries → Docker → apt-get install
//
// TEST_SERVICES=env|native|docker selects a single source, and none refuses every start, as `make unit` wants. Without
// a server, Start fails; no test is skipped.
//
// A server that this package starts is private and is removed with its data. The server never outlives the process that
// started it, not even after SIGKILL:
//
//	this process ── pipe ──► cleaner (sh)    pipe closed: ends all processes in the directory, then removes the directory
//	     │
//	     └─ a locked thread ──► postgres     thread gone: the kernel sends the parent-death signal
//
// A container ends in the same way: its first process reads a pipe from this process, and ends at the end of the input.
package backing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// PostgresAndRedis is a Postgres and a Redis, ready for connections.
type PostgresAndRedis struct {
	PostgresURL, RedisURL string // Addresses of the two servers, as Server.URL returns them.
	Postgres, Redis       *Server
}

// StartPostgresAndRedis starts or finds a Postgres and a Redis at the same time, and logs a line with the source of
// each. The context bounds the start only.
//
// The error names the package to install or the variable to set.
func StartPostgresAndRedis(ctx context.Context, o Options) (*PostgresAndRedis, error) {
	o = o.withDefaults()
	var (
		both               sync.WaitGroup
		postgres, redis    *Server
		errPostgres, errRe error
	)
	both.Go(func() { postgres, errPostgres = postgresService.obtain(ctx, o) })
	both.Go(func() { redis, errRe = redisService.obtain(ctx, o) })
	both.Wait()
	if err := errors.Join(errPostgres, errRe); err != nil {
		return nil, errors.Join(err, closeAll(postgres, redis))
	}
	o.Logf("services: Postgres from %s; Redis from %s", postgres.choice, redis.choice)
	return &PostgresAndRedis{PostgresURL: postgres.url, RedisURL: redis.url, Postgres: postgres, Redis: redis}, nil
}

// Close ends the Postgres and the Redis if this process started them, and removes their data.
func (s *PostgresAndRedis) Close() error { return closeAll(s.Postgres, s.Redis) }

// StartPostgres starts or finds a Postgres, from the same sources as StartPostgresAndRedis.
func StartPostgres(ctx context.Context, o Options) (*Server, error) {
	return startOne(ctx, postgresService, o)
}

// StartRedis starts or finds a Redis, from the same sources as StartPostgresAndRedis.
func StartRedis(ctx context.Context, o Options) (*Server, error) {
	return startOne(ctx, redisService, o)
}

func startOne(ctx context.Context, s service, o Options) (*Server, error) {
	o = o.withDefaults()
	server, err := s.obtain(ctx, o)
	if err != nil {
		return nil, err
	}
	o.Logf("services: %s from %s", s.name, server.choice)
	return server, nil
}

func closeAll(servers ...*Server) error {
	var errs []error
	for _, server := range servers {
		if server != nil {
			errs = append(errs, server.Close())
		}
	}
	return errors.Join(errs...)
}

// ServerPurpose is what a server is for: tests or the sandbox. It decides the order in which sources of servers are
// tried, and which environment variables may name a server.
type ServerPurpose int

const (
	// PurposeTests is the purpose of test binaries: TEST_DATABASE_URL and TEST_REDIS_URL come first, then Docker, then
	// server binaries.
	PurposeTests ServerPurpose = iota
	// PurposeSandbox is the purpose of the local sandbox: DATABASE_URL and REDIS_URL come first, then server binaries,
	// then Docker.
	PurposeSandbox
)

// Options are the options with which a Postgres or a Redis is started. The zero value is right for most tests.
type Options struct {
	Purpose ServerPurpose
	// Logf logs the line that explains which source of a server was chosen, and a line before a package is installed.
	// Nil: the lines go to standard error.
	Logf func(format string, args ...any)
	// InMemory reports whether a server keeps its data in a file system in memory, so that a busy disk does not slow
	// the server. true: in memory if there is room; the data survives a kill of the server, but no crash of the
	// machine. false: on disk.
	InMemory bool
	// FastUnsafe reports whether Postgres trades safety for speed. true: the data is in memory, and fsync,
	// synchronous_commit and full_page_writes are off, so Postgres is several times faster but loses the latest
	// commits if it is killed. false: Postgres's defaults.
	FastUnsafe bool
	// RedisAOF reports whether Redis's data survives Kill and Restart. true: appendonly yes, appendfsync everysec.
	// false: Redis keeps nothing on disk.
	RedisAOF bool
	// Port is the port that is tried first for a Postgres run from a binary of this machine; 0: any free port.
	Port int
	// Private reports whether the test gets a server that no other process uses, to kill, pause and restart at will.
	// true: a server of its own, never one named by the environment, not even under TEST_SERVICES=env. false: a
	// shared server is good enough.
	Private bool

	// machine stands for this machine and its programs; nil selects the real one. Tests of this package pass a fake.
	machine *machine
}

func (o Options) withDefaults() Options {
	if o.Logf == nil {
		o.Logf = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	if o.machine == nil {
		o.machine = thisMachine()
	}
	return o
}

// TB is the part of testing.TB that StartForTest needs. It is declared here because the sandbox starts servers
// too, and must not link the package testing.
type TB interface {
	Helper()
	Cleanup(end func())
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// StartForTest starts a Postgres, a Redis or both for a test, and closes them when the test ends.
func StartForTest[S io.Closer](t TB, start func(context.Context) (S, error)) S {
	t.Helper()
	// The time limit for the start of a server is long, because it includes the installation of the server's
	// package.
	const limit = 3 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	servers, err := start(ctx)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := servers.Close(); err != nil {
			t.Errorf("close the servers of a test: %v", err)
		}
	})
	return servers
}

var atExit struct {
	mu    sync.Mutex
	steps []func()
}

// AtExit registers a function that RunTests calls after the tests of a test binary; the last registered function
// runs first.
func AtExit(step func()) {
	atExit.mu.Lock()
	defer atExit.mu.Unlock()
	atExit.steps = append(atExit.steps, step)
}

// RunTests runs a test binary's tests (a *testing.M), then the functions registered with AtExit, and returns the
// exit code.
func RunTests(m interface{ Run() int }) int {
	defer func() {
		atExit.mu.Lock()
		steps := atExit.steps
		atExit.steps = nil
		atExit.mu.Unlock()
		for _, step := range slices.Backward(steps) {
			step()
		}
	}()
	return m.Run()
}

// control holds the operations on a Postgres or Redis server that this process started: kill, stop, restart,
// pause, close.
type control interface {
	// Pid is the process id of the server's main process on this machine. 0: the server runs in a container, or does
	// not run.
	Pid() int
	// Kill sends SIGKILL to every process of the server and waits for their end. The data stays, so that Restart
	// finds it.
	Kill() error
	// Stop ends the server: gently, closing its sessions (Postgres "fast", Redis SIGTERM), or immediately, without saving
	// or checkpointing (Postgres "immediate", Redis SIGKILL).
	Stop(immediate bool) error
	// Restart stops the server gently if it runs, starts it again on the same port and data, and waits until it
	// answers.
	Restart(ctx context.Context) error
	// Pause suspends every process of the server (SIGSTOP) until Resume: connections stay open, and no request is
	// answered.
	Pause() error
	// Resume ends the suspension of a server's processes by Pause.
	Resume() error
	// Close ends a server that this process started, and removes its data.
	Close() error
}

// Server is a Postgres or a Redis. Its methods are safe for concurrent use. Kill, Stop, Restart and Pause are only
// for servers that were started with Options.Private.
type Server struct {
	control // The operations on the server's process, such as a kill; nil if the environment names the server.
	url     string
	// The source of the server and why it was chosen, for a log line without secrets.
	choice   string
	closing  sync.Once
	closeErr error
}

// URL is the server's address: postgres://…/postgres?sslmode=disable, or redis://host:port/0. Restart keeps the
// address. The URL of a server that the environment names contains the password: never log it.
func (s *Server) URL() string { return s.url }

// Close ends a server that this process started, and removes its data. Further calls have no effect.
func (s *Server) Close() error {
	s.closing.Do(func() {
		if s.control != nil {
			s.closeErr = s.control.Close()
		}
	})
	return s.closeErr
}
