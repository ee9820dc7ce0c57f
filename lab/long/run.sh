#!/usr/bin/env bash
# Runs the tests that need minutes, and prints a table (make test-long): the parts of parts.txt, or those that are
# named. Each part has a log .local/long/NAME.log; the table is also in .local/long/table.txt. The exit code is 1 unless
# every part is green.
set -euo pipefail
cd "$(dirname "$0")/../.."
logs=$PWD/.local/long
mkdir -p "$logs"
: >"$logs/table.txt"
trap "trap '' TERM; kill 0; wait; exit 130" INT TERM # the parts in the background, too, which ignore Ctrl-C

mapfile -t parts < <(grep -Ev '^(#|$)' lab/long/parts.txt)
for name; do
	grep -q "^$name " lab/long/parts.txt && continue
	echo "no part is called $name; the parts are" "${parts[@]%% *}" >&2
	exit 1
done
[ $# = 0 ] || mapfile -t parts < <(printf '%s\n' "${parts[@]}" | awk -v named=" $* " 'index(named, " " $1 " ")')

# The parts share a directory for temporary files, and with it the reserved ports (backing.FreePort).
TMPDIR=$(mktemp -d) && export TMPDIR && chmod 711 "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT

row() { # name, result, seconds, text of lines
	printf '%-17s %-9s %4d.%d min  %s\n' "$1" "$2" $(($3 / 60)) $(($3 % 60 / 6)) "${4//$'\n'/$'\n'$(printf '%42s')}" |
		tee -a "$logs/table.txt"
}

# used prints the hundredths of seconds that all processors were busy, that the host took from them, and their sum with
# the idle ones.
used() { awk '/^cpu / { busy = $2 + $3 + $4 + $7 + $8; print busy, $9, busy + $9 + $5 + $6 }' /proc/stat; }

# quiet prints the use since a reading of used, and tells whether figures from such a machine can be judged: others than
# the part used less than 20 %, and the host less than 3 %.
quiet() { # the three values of the reading, seconds of the part as user and in the kernel
	used | awk -v busy="$1" -v stolen="$2" -v all="$3" -v user="$4" -v kernel="$5" '{
		others = 100 * ($1 - busy - 100 * (user + kernel)) / ($3 - all + 1); host = 100 * ($2 - stolen) / ($3 - all + 1)
		printf "others used %.0f %% of the machine, its host %.0f %%", others, host
		exit others >= 20 || host >= 3
	}'
}

await_quiet() { # for five minutes; prints the last use
	local before use
	for _ in {1..30}; do
		read -ra before < <(used)
		sleep 10
		use=$(quiet "${before[@]}" 0 0) && return
	done
	echo "$use"
	return 1
}

play() { # a line of parts.txt
	local name lane minutes folder args program dir=. result=green begun=$SECONDS use before own figures
	read -r name lane minutes folder args <<<"$1"
	read -ra args <<<"$args"
	if [ "$lane" = quiet ] && ! use=$(await_quiet); then
		row "$name" 'NOT QUIET' $((SECONDS - begun)) "$use"
		return
	fi
	echo "running: $name"
	program=$logs/${folder##*/}
	[ "$folder" != make ] || program=make
	if [[ $1 = *-test.run=* ]]; then # a test that ends by its own limit prints where it hangs
		program+=.test dir=$folder args+=(-test.v "-test.timeout=${minutes}m")
	fi
	begun=$SECONDS TIMEFORMAT='%U %S'
	read -ra before < <(used)
	own=$({ time (cd "$dir" && timeout --foreground -k 20 $((minutes + 1))m "$program" "${args[@]}" \
		>"$logs/$name.log" 2>&1); } 2>&1) || result=RED
	figures=$(sed -nE 's/.*\bfigure: //p; /^[0-9]+ passed, /p' "$logs/$name.log") # the latter of `make test-race`
	[ -n "$figures" ] || result=RED figures='no figure'
	[ $result = green ] || figures+=$'\n'"see $logs/$name.log"
	# shellcheck disable=SC2086 # two values
	if [ "$result $lane" = 'RED quiet' ] && ! use=$(quiet "${before[@]}" $own); then
		result='NOT QUIET' figures+=$'\n'$use
	fi
	row "$name" "$result" $((SECONDS - begun)) "$figures"
}

echo 'building the services and the parts'
# As lab/e2e and lab/faults build them later, from Go's cache.
go build -o /dev/null ./cmd/http ./cmd/dispatcher ./cmd/admin
go build -o /dev/null ./cmd/sandbox
go build -o /dev/null -tags=failpoints ./lab/faults/http ./lab/faults/dispatcher
for folder in $(printf '%s\n' "${parts[@]}" | awk '{ print $4 (/-test.run=/ ? ".test" : "") }' | sort -u); do
	case $folder in
	make) ;;
	*.test) go test -c -tags=long -o "$logs/${folder##*/}" "./${folder%.test}" ;;
	*) go build -o "$logs/${folder##*/}" "./$folder" ;;
	esac
done
row build '' $SECONDS ''

lane() { # a regular expression over lanes: the parts one after the other
	for part in "${parts[@]}"; do
		if [[ $part =~ ^[^\ ]+\ +($1)\  ]]; then play "$part"; fi
	done
}
lane 'alone|quiet'
for name in $(printf '%s\n' "${parts[@]}" | awk '$2 != "alone" && $2 != "quiet" { print $2 }' | sort -u); do
	lane "$name" &
done
wait
greens=$(grep -c ' green ' "$logs/table.txt" || true)
row all '' $SECONDS "$greens of ${#parts[@]} parts are green"
echo && cat "$logs/table.txt"
[ "$greens" = ${#parts[@]} ]
