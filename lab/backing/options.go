package backing

import (
	"errors"
	"fmt"
	"os"
)

// Purpose decides the order of sources and the environment variables that name a given server.
type Purpose int

const (
	// Tests reads TEST_DATABASE_URL and TEST_REDIS_URL, then tries Docker before server binaries.
	Tests Purpose = iota
	// Sandbox reads DATABASE_URL and REDIS_URL, then tries server binaries before Docker.
	Sandbox
)

// ErrNotOurs is returned by Kill, Stop, Restart, Pause and Resume of a server that this process did not start.
var ErrNotOurs = errors.New("backing: this server is not ours to control")

// Options of Start, StartPostgres and StartRedis. The zero value is right for most tests.
type Options struct {
	Purpose Purpose
	// Logf takes the line that explains the choice, and a line before an installation. Nil: standard error.
	Logf func(format string, args ...any)
	// FastUnsafe turns Postgres's fsync, synchronous_commit and full_page_writes off, and keeps data in memory if there
	// is room: several times faster, but data may be lost when the machine crashes.
	FastUnsafe bool
	// RedisAOF keeps Redis's data over Kill and Restart: appendonly yes, appendfsync everysec.
	RedisAOF bool
	// RedisDatabases is the number of databases of a Redis that this process starts; 0 stands for 16.
	RedisDatabases int
	// Private asks for a server that no other process uses, to kill and restart at will. The environment's servers are
	// then not used, even under TEST_SERVICES=env.
	Private bool
	// AllowMiniredis lets the sandbox fall back to an in-process imitation of Redis.
	AllowMiniredis bool

	machine *machine // tests replace the real machine
}

func (o Options) withDefaults() Options {
	if o.Logf == nil {
		o.Logf = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	if o.RedisDatabases == 0 {
		o.RedisDatabases = 16
	}
	if o.machine == nil {
		o.machine = thisMachine()
	}
	return o
}
