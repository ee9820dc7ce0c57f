#!/usr/bin/env bash
# Counts words that hide a noun ("what", "one", "it") in comments and docs, and fails when there are too many.
#   scripts/count-words.sh                        the table, for each top-level folder
#   scripts/count-words.sh -packages core ports   a line for each package
#   scripts/count-words.sh -random 10 core/money  ten comments, to be read without their code
# "its" and "it's" are other words; a hyphen parts words. Generated files and directives to tools are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
go build -buildvcs=false -o bin/words ./lab/words # not `go run`, which hides the exit status
exec bin/words "$@"
