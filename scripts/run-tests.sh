#!/usr/bin/env bash
# Runs the tests of all packages, and prints the events that `go test -json` would print. The package of the first
# argument runs alone, then those of the other arguments, then the rest.
# `go test` links every test binary on every run. Here, .local/tests keeps the binaries (2.5 GB), and only those that
# changed are linked anew: a seventh of the CPU time of a run.
set -euo pipefail
cd "$(dirname "$0")/.."
binaries=$PWD/.local/tests
mkdir -p "$binaries"

# Lines of group, package and folder. `go test -c` names a binary after the last part of its package's path, so packages
# that share this part need folders of their own: a group has each name once.
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "$@" ./... |
	awk 'NF && !seen[$1]++ { parts = split($1, part, "/"); print groups[part[parts]]++, $1, $2 }' >"$binaries/list"
for group in $(cut -d' ' -f1 "$binaries/list" | sort -u); do
	mkdir -p "$binaries/$group"
	mapfile -t packages < <(awk -v group="$group" '$1 == group { print $2 }' "$binaries/list")
	# Symbols and debug information cost a third of each link. Lint runs vet.
	go test -race -vet=off -ldflags=-s -c -o "$binaries/$group/" "${packages[@]}" >&2
done

# Packages of modules of their own. The libraries of these modules are large, and only a build without the race detector
# is shared with lint.
for folder in deployments/release lab/kube/chart; do
	mkdir -p "$binaries/$folder"
	(cd "$folder" && CGO_ENABLED=0 go test -vet=off -ldflags=-s -c -o "$binaries/$folder/" .) >&2
	echo "$folder partnerdeposits/$folder $PWD/$folder" >>"$binaries/list"
done

# lab/e2e and lab/faults build these commands, which takes seconds once Go's cache has their packages. Compilers beside
# running tests would slow their servers beyond the tests' limits.
faults=(./lab/faults/http ./lab/faults/dispatcher ./cmd/admin)
CGO_ENABLED=0 go build ./cmd/http ./cmd/dispatcher ./cmd/admin >&2
CGO_ENABLED=0 go build -tags=lean -o /dev/null ./cmd/sandbox >&2
CGO_ENABLED=0 go build -tags=failpoints "${faults[@]}" >&2
go build -race -tags=failpoints "${faults[@]}" >&2

run() { # group, package, folder
	local events status=0
	events=$(mktemp)
	cd "$3"
	# test2json ignores Ctrl-C, and so would a command that it starts. The time bounds a test that hangs: on a
	# slow machine, lab/e2e takes 17 minutes.
	"$TEST2JSON" -t -p "$2" env --default-signal=INT "$BINARIES/$1/${2##*/}.test" \
		-test.v=test2json -test.paniconexit0 -test.timeout=30m -test.shuffle=on >"$events" || status=1
	flock "$BINARIES/list" cat "$events"
	rm "$events"
	return $status
}
export -f run
TEST2JSON=$(go tool -n test2json) BINARIES=$binaries
export TEST2JSON BINARIES
status=0
head -n 1 "$binaries/list" | xargs -L 1 bash -c 'run "$@"' run || status=1
tail -n +2 "$binaries/list" | xargs -P "$(nproc)" -L 1 bash -c 'run "$@"' run || status=1
exit $status
