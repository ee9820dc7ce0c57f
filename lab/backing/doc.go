// Package backing gives tests and the sandbox a real Postgres and a real Redis from any source that the machine offers.
//
// The sources in the order of trying:
//
//	tests     TEST_DATABASE_URL, TEST_REDIS_URL → Docker → server binaries → apt-get install
//	sandbox   DATABASE_URL, REDIS_URL           → server binaries → Docker → apt-get install → miniredis, where allowed
//
// TEST_SERVICES=env|native|docker selects a single source, and none refuses every start, as `make unit` wants. Without a
// server, Start fails; no test is skipped.
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
