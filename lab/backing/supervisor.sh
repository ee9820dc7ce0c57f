# shellcheck shell=sh
gentle=$1 immediate=$2
shift 2
start() { docker-entrypoint.sh "$@" </dev/null >&2 & server=$!; }
start "$@"
while read -r order; do
	case $order in
	kill) kill -KILL -1; wait "$server" ;;
	gentle) kill "-$gentle" "$server"; kill -CONT -1; wait "$server" ;;
	immediate) kill "-$immediate" "$server"; kill -CONT -1; wait "$server" ;;
	start) start "$@" ;;
	pause) kill -STOP -1 ;;
	resume) kill -CONT -1 ;;
	esac
	echo "$order"
done
kill -KILL -1
