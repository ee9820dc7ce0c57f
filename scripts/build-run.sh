#!/usr/bin/env bash
# Builds commands into bin/ for `make run` and `make dev`, and says every few seconds how far the build is.
#
#   scripts/build-run.sh ./cmd/sandbox ./cmd/admin
set -euo pipefail
cd "$(dirname "$0")/.."

EVERY=5 # seconds between two lines
modules=0 packages=0 total=''

# step runs a command, counts the modules and packages that go names, and shows the rest if the command fails.
step() {
	local name=$1 told=$SECONDS line='' rest='' status=''
	shift
	echo "# $name …"
	while [ -z "$status" ]; do
		if IFS= read -r -t 1 line; then
			case $line in
			'go: downloading '*) modules=$((modules + 1)) ;;
			'total '*) total=" of ${line#total }" ;;
			'status '*) status=${line#status } ;;
			*' '*) rest+=$line$'\n' ;;
			*) packages=$((packages + 1)) ;;
			esac
		fi
		if [ $((SECONDS - told)) -ge "$EVERY" ]; then
			told=$SECONDS
			echo "# $name … $SECONDS s: $modules modules downloaded, $packages$total packages compiled"
		fi
	done < <(code=0; "$@" 2>&1 || code=$?; echo "status $code")
	[ "$status" = 0 ] || { printf '%s' "$rest" >&2 && exit "$status"; }
}

# fetch downloads the modules, while packages of the standard library compile: they need no module.
fetch() {
	exec 3< <(go build -v net/http html/template database/sql 2>&1) # unlike a job with &, it ends with Ctrl-C
	local all
	all=$(go list -deps "$@") || return
	echo "total $(wc -l <<<"$all" | tr -d ' ')"
	cat <&3
}

[ -e bin/admin ] || step 'downloading modules' fetch "$@"
step "building $*" go build -v -o bin/ "$@"
echo "# built in $SECONDS s"
