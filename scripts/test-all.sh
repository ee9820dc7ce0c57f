#!/usr/bin/env bash
# Runs every check, for `make test`. Lint, the check of generated code and the count of words (on the first run also the build of their
# tools) run beside the tests at the lowest priority. Their report follows the report of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .local

scripts/ensure-debian.sh gcc curl chromium docker-compose haproxy pgbouncer pg_dump pgbench prometheus

# Lint uses the build for the race detector, which the tests need anyway.
lint='GOFLAGS="$GOFLAGS -race" CGO_ENABLED=1 make lint'
report=$(mktemp .local/checks.XXXXXX)
trap 'rm -f "$report"' EXIT

set -m # gives each job a process group, which stop can signal as a whole
nice -n 19 bash -c "status=0; $lint || status=1; make check-generated || status=1; make words || status=1; exit \$status" >"$report" 2>&1 </dev/null &
checks=$!
CGO_ENABLED=1 go test -race -shuffle=on -timeout=20m -ldflags=-w ./... </dev/null & # debug information costs a quarter of each link
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
echo "--- lint, generated code and words"
checked=passed
wait $checks || checked=FAILED
cat "$report"
echo "--- tests $tested, lint, generated code and words $checked"
[ "$tested$checked" = passedpassed ]
