// Package backing gives tests and the sandbox a real Postgres and a real Redis, whatever the machine offers.
//
// Where a service comes from, first that works:
//
//	tests     TEST_DATABASE_URL, TEST_REDIS_URL → Docker → server binaries → apt-get install
//	sandbox   DATABASE_URL, REDIS_URL           → server binaries → Docker → apt-get install → miniredis, where allowed
//
// TEST_SERVICES=env|native|docker forces one of them. A service that cannot be had is an error, never a skipped test.
//
// A server of our own is thrown away with its data. It does not outlive the process that asked for it, even one that
// was killed with SIGKILL:
//
//	this process ── pipe ──► guard (sh)      pipe closed: ends what runs in the directory, then removes it
//	     │
//	     └─ a locked thread ──► postgres     thread gone: the kernel sends the parent-death signal
//
// A container has the same tie: its first process reads our end of its standard input and ends with it.
package backing
