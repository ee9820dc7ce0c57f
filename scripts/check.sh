#!/usr/bin/env bash
# Runs every check of a change, for `make check`: all tests shuffled and anew, those of goroutines with the race detector
# too, lint, generated code and words. Lint and generated code are looked at beside the tests, at the lowest priority; on
# the first run, so is the build of their tools.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .local
export CI=true

echo "# check: all tests, the race detector where goroutines share memory, lint, generated code and words"
report=$(mktemp .local/checks.XXXXXX)
set -m # gives the job a process group, which stop can signal as a whole
nice -n 19 bash -c 'failed=; for check in lint check-generated words; do make "$check" || failed+=" $check"; done
	[ -z "$failed" ] || echo "# FAILED:$failed"; [ -z "$failed" ]' >"$report" 2>&1 </dev/null &
checks=$!
set +m
trap 'kill -TERM -- -$checks 2>/dev/null || true; rm -f "$report"' EXIT
trap 'exit 130' INT TERM

failed=
MODULES='deployments/release lab/kube/chart' scripts/test.sh -count=1 -shuffle=on || failed+=' tests'
PACKAGES="$RACED" scripts/test.sh -race -count=1 -shuffle=on || failed+=' race'
while kill -0 "$checks" 2>/dev/null; do
	echo "# lint, generated code and words … $SECONDS s"
	for _ in 1 2 3 4; do kill -0 "$checks" 2>/dev/null && sleep 1; done
done
wait "$checks" || failed+=" $(sed -n 's/^# FAILED: //p' "$report")"
cat "$report"
[ -z "$failed" ] && echo "# check: passed, $SECONDS s" || echo "# check: FAILED:$failed; $SECONDS s"
[ -z "$failed" ]
