#!/usr/bin/env bash
# Runs the tests of all packages, those of the arguments first, and prints the events that `go test -json` would print.
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

run() { # group, package, folder
	local events status=0
	events=$(mktemp)
	cd "$3"
	# test2json ignores Ctrl-C, and so would a command that it starts.
	"$TEST2JSON" -t -p "$2" env --default-signal=INT "$BINARIES/$1/${2##*/}.test" \
		-test.v=test2json -test.paniconexit0 -test.timeout=20m -test.shuffle=on >"$events" || status=1
	flock "$BINARIES/list" cat "$events"
	rm "$events"
	return $status
}
export -f run
TEST2JSON=$(go tool -n test2json) BINARIES=$binaries
export TEST2JSON BINARIES
# Packages mostly wait for processes, so at least three run at a time.
parallel=$(nproc)
xargs -P $((parallel < 3 ? 3 : parallel)) -L 1 bash -c 'run "$@"' run <"$binaries/list"
