#!/usr/bin/env bash
# Generates all generated code in the current directory, with the tools of this repository.
# `make generate` calls this script and puts the tools first in PATH.
set -euo pipefail

sqlc=adapters/postgres/sqlc.yaml
templates=$(find adapters -name '*.templ' -print -quit)

tools=(oapi-codegen)
[ ! -e "$sqlc" ] || tools+=(sqlc)
[ -z "$templates" ] || tools+=(templ)
"$(dirname "${BASH_SOURCE[0]}")/tools.sh" "${tools[@]}"

[ ! -e "$sqlc" ] || sqlc generate -f "$sqlc"
[ -z "$templates" ] || templ generate -log-level warn # from the root: the output contains file names relative to the working directory
go generate ./... # the OpenAPI server, the diagram of the deposit, the dashboards
