#!/usr/bin/env bash
# Runs every check, for `make test`. Lint, the check of generated code and the count of words run beside the tests at the
# lowest priority; on the first run, so does the build of their tools. Their report follows the report of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .local

scripts/ensure-debian.sh gcc curl chromium docker-compose openssl haproxy pgbouncer pg_dump pgbench prometheus \
	php node npm python systemd-analyze

# Lint uses the build for the race detector, which the tests need anyway.
lint='GOFLAGS="$GOFLAGS -race" CGO_ENABLED=1 make lint'
report=$(mktemp .local/checks.XXXXXX)
trap 'rm -f "$report"' EXIT

# A race report is written when the race is found; the second that each process sleeps at its end by default finds few more.
export GORACE="atexit_sleep_ms=0 ${GORACE:-}"
scripts/tools.sh gotestsum
CGO_ENABLED=0 go build -o bin/servers ./lab/servers
# lab/faults runs alone: one process holds the connections of all its services, and answers late on a busy machine. The
# longest packages come next, so that no core waits for them at the end.
tests='bin/servers gotestsum --format pkgname-and-test-fails --hide-summary skipped --jsonfile .local/tests.json --raw-command --
	scripts/run-tests.sh ./lab/faults ./lab/e2e ./adapters/http/partnerapi ./adapters/http/dashboard'

set -m # gives each job a process group, which stop can signal as a whole
nice -n 19 bash -c "status=0; $lint || status=1; make check-generated || status=1; make words || status=1; exit \$status" >"$report" 2>&1 </dev/null &
checks=$!
CGO_ENABLED=1 $tests </dev/null &
tests=$!
set +m

stop() {
	trap '' INT TERM
	kill -INT -- -$tests 2>/dev/null || true # like Ctrl-C: the tests end, and their servers with them
	kill -TERM -- -$checks 2>/dev/null || true
	wait
	exit 130
}
trap stop INT TERM

tested=passed
wait $tests || tested=FAILED
slowest() { # the twenty slowest of the JSON lines that match, in seconds: their package, and their test if they have one
	grep -E '"Action":"(pass|fail)"' .local/tests.json | grep "$@" '"Test":' |
		sed -E 's/.*"Package":"partnerdeposits\/([^"]*)"(,"Test":"([^"]*)")?.*"Elapsed":([0-9.]+).*/\4 \1 \3/' | sort -rn | awk 'NR <= 20' || true
}
echo "--- the slowest twenty packages and tests, in seconds"
slowest -v
slowest -e
echo "--- lint, generated code and words"
checked=passed
wait $checks || checked=FAILED
cat "$report"
echo "--- tests $tested, lint, generated code and words $checked"
[ "$tested$checked" = passedpassed ]
