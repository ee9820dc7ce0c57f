#!/usr/bin/env bash
# Generates all code in a copy of the tree and compares the copy with the tree. The tree stays unchanged, and may have
# uncommitted changes. The copy's generated Go files are removed first, so that a file without a source is found, too.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts=$PWD/scripts

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/committed" "$copy/generated"
tar --exclude=./.git --exclude=./.local --exclude=./bin -cf "$copy/tree.tar" .
tar -C "$copy/committed" -xf "$copy/tree.tar"
tar -C "$copy/generated" -xf "$copy/tree.tar"

cd "$copy/generated"
grep -rlE --include='*.go' '^// Code generated .* DO NOT EDIT\.$' . | tr '\n' '\0' | xargs -0 rm -f
"$scripts/generate.sh"
cd "$copy"
if ! diff -ruN committed generated >differences; then
	head -n 40 differences
	echo "check-generated: these files are not what their sources say:"
	diff -rqN committed generated | awk '{ print "  " substr($2, length("committed/") + 1) }'
	echo 'check-generated: run "make generate" and commit the result'
	exit 1
fi >&2
echo "check-generated: all generated code is up to date"
