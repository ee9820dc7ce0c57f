# shellcheck shell=sh
dir=$1 round=0
while read -r _; do :; done
while [ "$round" -lt 100 ]; do
	alive=
	for process in /proc/[0-9]*; do
		case $(readlink "$process/cwd") in
		"$dir" | "$dir"/*)
			alive=1
			[ "$round" -ge 20 ] && kill -KILL "${process#/proc/}"
			kill -CONT "${process#/proc/}"
			;;
		esac
	done
	[ -z "$alive" ] && break
	round=$((round + 1))
	sleep 0.1
done
rm -rf -- "$dir"
