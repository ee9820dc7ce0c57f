#!/usr/bin/env bash
# Generates all generated code of the tree it is started in, with the tools of this repository.
# Called through `make generate`, which puts the tools first in PATH.
set -euo pipefail

sqlc=adapters/postgres/sqlc.yaml
templates=$(find adapters -name '*.templ' -print -quit)

tools=(oapi-codegen)
[ ! -e "$sqlc" ] || tools+=(sqlc)
[ -z "$templates" ] || tools+=(templ)
"$(dirname "${BASH_SOURCE[0]}")/tools.sh" "${tools[@]}"

[ ! -e "$sqlc" ] || sqlc generate -f "$sqlc"
[ -z "$templates" ] || templ generate -log-level warn # from the root: file names in its output hang on where it starts
go generate ./... # the OpenAPI server, the diagram of the deposit
