package backing

import (
	"errors"
	"fmt"
	"os"
)

// Purpose decides the order in which sources are tried and which environment variables name a given server.
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
	// Logf takes the line that says what was chosen and why, and a line before anything is installed.
	// Standard error when nil.
	Logf func(format string, args ...any)
	// FastUnsafe turns Postgres's fsync, synchronous_commit and full_page_writes off and keeps its data in memory where
	// there is room: several times faster, no promise after a crash of the machine.
	FastUnsafe bool
	// RedisAOF keeps Redis's data over Kill and Restart: appendonly yes, appendfsync everysec.
	RedisAOF bool
	// RedisDatabases is how many numbered databases a Redis of our own has; 16 when zero.
	RedisDatabases int
	// Private asks for a server that nobody else uses, to kill and restart at will. The environment's
	// servers are then left alone, also under TEST_SERVICES=env.
	Private bool
	// AllowMiniredis lets the sandbox fall back to an in-process imitation where no Redis server can be had.
	AllowMiniredis bool

	machine *machine // what this machine offers; tests put another in its place
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
