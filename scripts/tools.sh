#!/usr/bin/env bash
# Puts the named tools in .local/bin, each at its pinned version, and builds only what is not there yet.
#
#   scripts/tools.sh sqlc templ
#
# Each tool is built with the dependencies its own authors tested, so none of them weighs on our go.mod or on another
# tool. A binary is kept per tool version and Go version; a link without versions points to the current one.
set -euo pipefail
cd "$(dirname "$0")/.."

source_of() {
	case $1 in
	golangci-lint) echo github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 ;;
	oapi-codegen) echo github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 ;;
	sqlc) echo github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 ;;
	templ) echo github.com/a-h/templ/cmd/templ@v0.3.977 ;; # the templ of go.mod: its runtime and generator go together
	*) echo "tools: no tool called $1 here" >&2 && return 1 ;;
	esac
}

bin=$PWD/.local/bin
go_version=$(go env GOVERSION)
mkdir -p "$bin"

for name in "$@"; do
	source=$(source_of "$name")
	binary=$name-${source##*@}-$go_version
	if [ ! -x "$bin/$binary" ]; then
		echo "tools: building $name ${source##*@} (once)" >&2
		scratch=$(mktemp -d "$bin/.building.XXXXXX")
		trap 'rm -rf "$scratch"' EXIT
		# Without cgo: no C compiler needed, and sqlc builds faster with its parser as WebAssembly.
		GOFLAGS='' GOOS='' GOARCH='' CGO_ENABLED=0 GOBIN=$scratch go install -ldflags='-s -w' "$source"
		mv "$scratch/$name" "$bin/$binary"
		rm -rf "$scratch"
	fi
	if [ "$(readlink "$bin/$name" || true)" != "$binary" ]; then
		ln -sfn "$binary" "$bin/.$name.$$" && mv -f "$bin/.$name.$$" "$bin/$name" # never absent, not even for a moment
	fi
done
