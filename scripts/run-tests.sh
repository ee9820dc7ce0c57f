#!/usr/bin/env bash
# Runs tests and prints their events, for lab/suite. Arguments are further flags of `go test`, such as -race -count=1;
# PACKAGES names the packages, MODULES the folders of further modules.
set -euo pipefail
cd "$(dirname "$0")/.."

# The longest packages start first, so that no core waits for them at the end.
mapfile -t packages < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $PACKAGES | awk '
	/lab\/(e2e|faults)$|http\/dashboard$/ { print 1, $0; next }
	/\/(http|process)\/|lab\/sdk$|payments\/stripe$|adapters\/postgres$|webhooks\/dispatch$/ { print 2, $0; next }
	{ print 3, $0 }' | sort -s -n | cut -d' ' -f2)
read -ra modules <<<"${MODULES:-}"
echo "{\"Action\":\"packages\",\"Packages\":$((${#packages[@]} + ${#modules[@]}))}"

# Lint runs vet. Symbols and debug information cost a third of each link. The time bounds a test that hangs. One package
# more than there are cores: some mostly wait.
tests=(go test -json -vet=off '-ldflags=-s -w' -timeout=20m -p=$(($(getconf _NPROCESSORS_ONLN) + 1)) "$@")
status=0
"${tests[@]}" "${packages[@]}" || status=1
for module in "${modules[@]}"; do (cd "$module" && "${tests[@]}" .) || status=1; done
exit $status
