#!/usr/bin/env bash
# Runs tests and prints their events, for lab/suite. Arguments are further flags of `go test`, such as -race -count=1;
# PACKAGES names the packages, MODULES the folders of further modules.
set -euo pipefail
cd "$(dirname "$0")/.."

# The longest packages start first, so that no core waits for them at the end.
longest='lab/(e2e|sdk|faults)$|http/(dashboard|partnerapi|checkout|connect)$|adapters/postgres$|webhooks/dispatch$'
mapfile -t packages < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $PACKAGES |
	awk -v longest="$longest" '$0 ~ longest { print; next } { rest[++n] = $0 } END { for (i = 1; i <= n; i++) print rest[i] }')
read -ra modules <<<"${MODULES:-}"
echo "{\"Action\":\"packages\",\"Packages\":$((${#packages[@]} + ${#modules[@]}))}"

# Lint runs vet. Symbols and debug information cost a third of each link. The time bounds a test that hangs.
tests=(go test -json -vet=off '-ldflags=-s -w' -timeout=20m "$@")
status=0
"${tests[@]}" "${packages[@]}" || status=1
for module in "${modules[@]}"; do (cd "$module" && "${tests[@]}" .) || status=1; done
exit $status
