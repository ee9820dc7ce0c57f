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
// asked for it, not even after SIGKILL:
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

// Services is a Postgres and a Redis, ready for connections.
type Services struct {
	PostgresURL, RedisURL string // see Server.URL
	Postgres, Redis       *Server
}

// Start obtains both servers at the same time and logs a line with their sources. The context bounds the start only.
//
// The error names the package to install or the variable to set.
func Start(ctx context.Context, o Options) (*Services, error) {
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
	return &Services{PostgresURL: postgres.url, RedisURL: redis.url, Postgres: postgres, Redis: redis}, nil
}

// Close ends the servers that this process started, and removes their data.
func (s *Services) Close() error { return closeAll(s.Postgres, s.Redis) }

// StartPostgres obtains a Postgres; as Start otherwise.
func StartPostgres(ctx context.Context, o Options) (*Server, error) {
	return startOne(ctx, postgresService, o)
}

// StartRedis obtains a Redis; as Start otherwise.
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

// Purpose decides the order of sources and the environment variables that name a given server.
type Purpose int

const (
	// Tests reads TEST_DATABASE_URL and TEST_REDIS_URL, then tries Docker before server binaries.
	Tests Purpose = iota
	// Sandbox reads DATABASE_URL and REDIS_URL, then tries server binaries before Docker.
	Sandbox
)

// Options of Start, StartPostgres and StartRedis. The zero value is right for most tests.
type Options struct {
	Purpose Purpose
	// Logf takes the line that explains the choice, and a line before an installation. Nil: standard error.
	Logf func(format string, args ...any)
	// InMemory keeps a server's data in a file system in memory if there is room, so that a busy disk does not slow the
	// server. Data survives a kill of the server, but no crash of the machine.
	InMemory bool
	// FastUnsafe includes InMemory, and turns Postgres's fsync, synchronous_commit and full_page_writes off. Postgres is
	// several times faster, but loses the latest commits if it is killed.
	FastUnsafe bool
	// RedisAOF keeps Redis's data over Kill and Restart: appendonly yes, appendfsync everysec.
	RedisAOF bool
	// Port is tried first for a Postgres that runs from a binary of this machine; 0: any.
	Port int
	// Private asks for a server that no other process uses, to kill, pause and restart at will. The environment's servers
	// are then not used, even under TEST_SERVICES=env.
	Private bool

	machine *machine // tests replace the real machine
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

// TB is the part of testing.TB that Lend needs. The sandbox starts servers too, and must not link the package testing.
type TB interface {
	Helper()
	Cleanup(end func())
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Lend starts servers for a test, and closes them at its end.
func Lend[S io.Closer](t TB, start func(context.Context) (S, error)) S {
	t.Helper()
	const limit = 3 * time.Minute // includes an installation
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

// AtExit registers a step that RunTests calls after the tests; the last registered step runs first.
func AtExit(step func()) {
	atExit.mu.Lock()
	defer atExit.mu.Unlock()
	atExit.steps = append(atExit.steps, step)
}

// RunTests runs a test binary's tests (a *testing.M), then the steps of AtExit, and returns the exit code.
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

// control is the set of operations on a server that this process started.
type control interface {
	// Pid is the server's main process on this machine. 0: no child of this process (container), or not running.
	Pid() int
	// Kill sends SIGKILL to every process of the server and waits for their end; the data stays for Restart.
	Kill() error
	// Stop ends the server: gently, closing its sessions (Postgres "fast", Redis SIGTERM), or immediately, without saving
	// or checkpointing (Postgres "immediate", Redis SIGKILL).
	Stop(immediate bool) error
	// Restart stops the server gently if it runs, starts it again on its port and data, and waits until it answers.
	Restart(ctx context.Context) error
	// Pause suspends every process of the server (SIGSTOP) until Resume: connections stay open, and no request is
	// answered.
	Pause() error
	// Resume ends a pause.
	Resume() error
	// Close ends a server that this process started and removes its data.
	Close() error
}

// Server is a Postgres or a Redis. Its methods are safe for concurrent use. Those that disturb a server are for servers
// that were started as Private.
type Server struct {
	control  // nil for a given server
	url      string
	choice   string // the source of the server and the reason, without secrets
	closing  sync.Once
	closeErr error
}

// URL is the server's address: postgres://…/postgres?sslmode=disable, or redis://host:port/0. Restart keeps the
// address. For a server from the environment URL contains the password: never log it.
func (s *Server) URL() string { return s.url }

// Close ends a server that this process started and removes its data. Further calls have no effect.
func (s *Server) Close() error {
	s.closing.Do(func() {
		if s.control != nil {
			s.closeErr = s.control.Close()
		}
	})
	return s.closeErr
}
