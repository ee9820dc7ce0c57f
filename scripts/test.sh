#!/usr/bin/env bash
# Runs tests, for `make test` and others. Arguments are further flags of `go test`, such as -race -count=1; PACKAGES and
# MODULES are as in scripts/run-tests.sh. With CI=true, the tests of lab/rarely run too, whatever has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh
export PACKAGES=${PACKAGES:-./...}

needs=(curl chromium haproxy pgbouncer pgbench redis-server)
if [ "${CI:-}" = true ]; then
	needs+=(docker-compose openssl pg_dump prometheus systemd-analyze php node npm python)
fi
build=()
if [[ " $* " = *' -race '* ]]; then
	needs+=(gcc) build=(-race)
	export CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 ${GORACE:-}" # a race is written when it is found; the second at the end finds few
fi

echo "# tests: install what is missing, compile all packages, then run them on a real Postgres and Redis"
# Packages of Debian install while packages of Go compile.
installed=$(mktemp)
trap 'rm -f "$installed"' EXIT
(scripts/ensure-debian.sh "${needs[@]}" 2>&1 || echo "failed" >"$installed") | sed -u 's/^/# debian: /' &
installing=$!

compile() {
	local modules=(${MODULES:-})
	local -x GOGC=400 # collecting the compiler's garbage less often saves a sixth of its time
	echo "total $(go list -test -deps "${build[@]}" $PACKAGES | wc -l)"
	go list -v -export -test -deps "${build[@]}" -f '{{""}}' $PACKAGES || return
	for module in "${modules[@]}"; do (cd "$module" && go list -v -export -test -deps -f '{{""}}' .) || return; done
	CGO_ENABLED=0 go build -v -o bin/suite ./lab/suite
}
step 'downloading modules' fetch $PACKAGES
step 'compiling' compile
while kill -0 "$installing" 2>/dev/null; do
	echo "# debian: packages are being installed … $SECONDS s"
	for _ in 1 2 3 4; do kill -0 "$installing" 2>/dev/null && sleep 1; done
done
[ ! -s "$installed" ] || exit 1
rm "$installed"
exec bin/suite scripts/run-tests.sh "$@"
