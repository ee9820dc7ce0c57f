#!/usr/bin/env bash
# Builds the named tools at their pinned versions into .local/bin. An existing binary is not built again.
#
#   scripts/tools.sh sqlc templ
#
# Each tool is built with its authors' dependencies, and adds nothing to our go.mod. A binary is kept per tool version and
# Go version; a link without versions points to the current binary.
set -euo pipefail
cd "$(dirname "$0")/.."

source_of() {
	case $1 in
	air) echo github.com/air-verse/air@v1.67.4 ;; # `make dev`
	gremlins) echo github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 ;; # breaks code of core, which its tests must notice
	golangci-lint) echo github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 ;;
	oapi-codegen) echo github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 ;;
	sqlc) echo github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 ;;
	stripe-mock) echo github.com/stripe/stripe-mock@v0.203.0 ;; # checks requests against the schema that Stripe publishes
	templ) echo github.com/a-h/templ/cmd/templ@v0.3.977 ;; # the version of go.mod: runtime and generator must match
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
		# Without cgo a build needs no C compiler, and sqlc builds faster, with its parser as WebAssembly.
		GOFLAGS='' GOOS='' GOARCH='' CGO_ENABLED=0 GOBIN=$scratch go install -ldflags='-s -w' "$source"
		mv "$scratch/$name" "$bin/$binary"
		rm -rf "$scratch"
	fi
	if [ "$(readlink "$bin/$name" || true)" != "$binary" ]; then
		ln -sfn "$binary" "$bin/.$name.$$" && mv -f "$bin/.$name.$$" "$bin/$name" # atomic: the link is never absent
	fi
done
