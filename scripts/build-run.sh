#!/usr/bin/env bash
# Builds commands into bin/ for `make run` and `make dev`, and says every few seconds how far the build is.
#
#   scripts/build-run.sh ./cmd/sandbox ./cmd/admin
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

[ -e bin/admin ] || step 'downloading modules' fetch "$@"
step "building $*" go build -v '-ldflags=-s -w' -o bin/ "$@"
echo "# built in $SECONDS s"
