# Sourced by scripts that take long. step runs a command, and says at least every five seconds how far it is.

EVERY=4 # seconds between two lines
modules=0 packages=0 total=''

# step counts the modules and packages that go names, passes lines that begin with "# <word>: ", and shows the rest if
# the command fails. A line "total N" is the number of packages to come.
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
			'# '[a-z]*': '*) echo "$line" ;;
			*' '*) rest+=$line$'\n' ;;
			'') ;;
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

# fetch downloads the modules of packages, while packages of the standard library compile: they need no module.
fetch() {
	exec 3< <(go build -v net/http html/template database/sql 2>&1) # unlike a job with &, it ends with Ctrl-C
	local all
	all=$(go list -deps "$@") || return
	echo "total $(wc -l <<<"$all" | tr -d ' ')"
	cat <&3
}
