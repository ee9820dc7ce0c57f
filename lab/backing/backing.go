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

type PostgresAndRedis struct {
	PostgresURL, RedisURL string
	Postgres, Redis       *Server
}

// StartPostgresAndRedis starts or finds a Postgres and a Redis at the same time, and logs the source of each. The
// context bounds the start only.
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

// Close ends the servers that this process started, and removes their data.
func (s *PostgresAndRedis) Close() error { return closeAll(s.Postgres, s.Redis) }

func StartPostgres(ctx context.Context, o Options) (*Server, error) {
	return startOne(ctx, postgresService, o)
}

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

// ServerPurpose decides the order in which sources of servers are tried, and which environment variables may name
// a server.
type ServerPurpose int

const (
	// PurposeTests tries TEST_DATABASE_URL and TEST_REDIS_URL first, then Docker, then server binaries.
	PurposeTests ServerPurpose = iota
	// PurposeSandbox tries DATABASE_URL and REDIS_URL first, then server binaries, then Docker.
	PurposeSandbox
)

// Options for the start of a Postgres or a Redis. The zero value is right for most tests.
type Options struct {
	Purpose ServerPurpose
	// Logf logs the chosen source of a server, and each installation of a package. Nil: standard error.
	Logf func(format string, args ...any)
	// InMemory reports whether a server keeps its data in memory, if there is room: the data survives a kill of the
	// server, but no crash of the machine.
	InMemory bool
	// FastUnsafe reports whether Postgres keeps its data in memory without fsync: several times faster, but a kill
	// loses the latest commits.
	FastUnsafe bool
	// RedisAOF reports whether Redis keeps an append-only file, so that its data survives Kill and Restart.
	RedisAOF bool
	// Port is tried first for a Postgres run from a binary of this machine; 0: any free port.
	Port int
	// Private reports whether the test gets a server of its own, to kill and pause at will, even under
	// TEST_SERVICES=env.
	Private bool

	// machine is this machine with its programs, or a fake of a test; nil selects the real one.
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

// TB is the part of testing.TB that StartForTest needs: the sandbox must not link the package testing.
type TB interface {
	Helper()
	Cleanup(end func())
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// StartForTest starts a Postgres or a Redis for a test, and closes it when the test ends.
func StartForTest[S io.Closer](t TB, start func(context.Context) (S, error)) S {
	t.Helper()
	// The start of a server may include the installation of its package.
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

// AtExit registers a function to call after the tests of a test binary; the last one runs first.
func AtExit(step func()) {
	atExit.mu.Lock()
	defer atExit.mu.Unlock()
	atExit.steps = append(atExit.steps, step)
}

// RunTests runs a test binary's tests, then the functions of AtExit, and returns the exit code.
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

type control interface {
	// Pid is the process id of the server's main process; 0: none, or the server runs in a container.
	Pid() int
	// Kill sends SIGKILL to every process of the server. The data stays for Restart.
	Kill() error
	// Stop ends the server gently (Postgres "fast", Redis SIGTERM) or immediately (Postgres "immediate", Redis
	// SIGKILL).
	Stop(immediate bool) error
	// Restart stops the server gently, starts it again on the same port and data, and waits until it answers.
	Restart(ctx context.Context) error
	// Pause suspends every process of the server: connections stay open, and no request is answered.
	Pause() error
	Resume() error
	Close() error
}

// Server is a Postgres or a Redis. Only a server started with Options.Private may be killed, stopped, restarted or
// paused.
type Server struct {
	control // The operations on the server's process; nil if the environment names the server.
	url     string
	// The chosen source of the server, for a log line without secrets.
	choice   string
	closing  sync.Once
	closeErr error
}

// URL is the server's address, which Restart keeps. It may contain a password: never log it.
func (s *Server) URL() string { return s.url }

// Close ends a server that this process started. Further calls have no effect.
func (s *Server) Close() error {
	s.closing.Do(func() {
		if s.control != nil {
			s.closeErr = s.control.Close()
		}
	})
	return s.closeErr
}
