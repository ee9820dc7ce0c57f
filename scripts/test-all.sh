#!/usr/bin/env bash
# Runs every check there is, called by `make test`. The tests have the processors; lint and the check of generated code
# (and building their tools, the first time) fill the gaps at the lowest priority, and report below the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .local

scripts/ensure-debian.sh gcc curl chromium

# Lint reads the packages as they are compiled for the race detector: the tests have that done anyway.
lint='GOFLAGS="$GOFLAGS -race" CGO_ENABLED=1 make lint'
report=$(mktemp .local/checks.XXXXXX)
trap 'rm -f "$report"' EXIT

set -m # a process group for each, so that all of it can be ended
nice -n 19 bash -c "status=0; $lint || status=1; make check-generated || status=1; exit \$status" >"$report" 2>&1 </dev/null &
checks=$!
CGO_ENABLED=1 go test -race -shuffle=on -timeout=8m ./... </dev/null &
tests=$!
set +m

stop() {
	trap '' INT TERM
	kill -INT -- -$tests 2>/dev/null || true # as Ctrl-C: tests end, and with them the servers they started
	kill -TERM -- -$checks 2>/dev/null || true
	wait
	exit 130
}
trap stop INT TERM

tested=passed
wait $tests || tested=FAILED
echo "--- lint and generated code"
checked=passed
wait $checks || checked=FAILED
cat "$report"
echo "--- tests $tested, lint and generated code $checked"
[ "$tested$checked" = passedpassed ]
