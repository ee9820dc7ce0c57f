#!/usr/bin/env bash
# Runs every native fuzz target for FUZZTIME each, one after the other, for `make fuzz`. FUZZ selects targets by a regular expression.
# Minimizing is bounded: the coverage of a server varies from run to run, and minimizing an input then takes all the time.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
while IFS=: read -r file target; do
	[[ $target =~ ${FUZZ:-.} ]] || continue
	echo "--- $target ($(dirname "$file"))"
	go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-1m}" -fuzzminimizetime 10x || status=1
done < <(grep -rnoE --include='*_test.go' '^func Fuzz\w+' adapters app cmd core ports process | sed -E 's/:[0-9]+:func /:/' | sort)
exit $status
