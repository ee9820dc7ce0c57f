#!/usr/bin/env bash
# Runs every check there is, called by `make test`. The tests come first and have the processors; lint and the check of
# generated code (and building their tools, the first time) fill the gaps at the lowest priority, and report below.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .local

scripts/ensure-debian.sh gcc curl chromium

# Lint reads the packages as they are compiled for the race detector: the tests have that done anyway.
lint='GOFLAGS="$GOFLAGS -race" CGO_ENABLED=1 make lint'

report=$(mktemp .local/checks.XXXXXX)
set -m # a process group of its own, so that all of it can be ended
nice -n 19 bash -c "status=0; $lint || status=1; make check-generated || status=1; exit \$status" >"$report" 2>&1 </dev/null &
checks=$!
set +m
trap 'kill -- -$checks 2>/dev/null || true; rm -f "$report"' EXIT
trap 'exit 130' INT TERM

tests=passed
CGO_ENABLED=1 go test -race -shuffle=on -timeout=8m ./... || tests=FAILED

echo "--- lint and generated code"
others=passed
wait $checks || others=FAILED
cat "$report"
echo "--- tests $tests, lint and generated code $others"
[ "$tests$others" = passedpassed ]
