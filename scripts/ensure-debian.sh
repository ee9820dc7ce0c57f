#!/usr/bin/env bash
# Checks that the machine has the named tools for tests, and installs missing tools on Debian or Ubuntu.
# The tests themselves find or install Postgres and Redis (lab/backing).
#
#   scripts/ensure-debian.sh gcc chromium
set -euo pipefail
cd "$(dirname "$0")/.."

has() {
	case $1 in
	gcc) echo '#include <stdlib.h>' | $(go env CC) -E - >/dev/null 2>&1 ;;
	curl) command -v curl >/dev/null ;;
	docker-compose) command -v docker-compose >/dev/null ;;
	haproxy) PATH=$PATH:/usr/sbin command -v haproxy >/dev/null ;;
	pgbouncer) command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] ;;
	pg_dump) command -v pg_dump >/dev/null ;;
	pgbench) command -v pgbench >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/pgbench' >/dev/null ;;
	prometheus) command -v prometheus >/dev/null && command -v promtool >/dev/null ;;
	prometheus-alertmanager) command -v prometheus-alertmanager >/dev/null || command -v alertmanager >/dev/null ;;
	chromium)
		local browser
		for browser in /usr/lib/chromium/chromium-headless-shell chromium chromium-browser google-chrome \
			google-chrome-stable headless-shell \
			'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; do
			command -v "$browser" >/dev/null && return 0
		done
		return 1
		;;
	*) echo "ensure-debian: do not know $1" >&2 && exit 2 ;;
	esac
}

packages_of() {
	case $1 in
	gcc) echo "gcc libc6-dev" ;;
	curl) echo curl ;;
	docker-compose) echo docker-compose ;;
	haproxy) echo haproxy ;;
	pgbouncer) echo pgbouncer ;;
	pg_dump) echo postgresql-client ;;
	pgbench) echo postgresql ;;
	chromium) echo chromium-headless-shell ;; # without windows: quicker, and smaller than chromium
	prometheus) echo prometheus ;;
	prometheus-alertmanager) echo prometheus-alertmanager ;;
	esac
}

why() {
	case $1 in
	gcc) echo "the race detector needs a C compiler with its headers" ;;
	curl) echo "the tour of the sandbox, which a test walks, uses curl" ;;
	docker-compose) echo "a test reads deployments/compose.yaml with docker-compose" ;;
	haproxy) echo "the tests behind a proxy use haproxy" ;;
	pgbouncer) echo "the service is tested behind PgBouncer" ;;
	pgbench) echo "the benchmark compares the service with pgbench" ;;
	pg_dump) echo "a restore from a backup is tested with pg_dump" ;;
	prometheus) echo "alerts and dashboards are tested with Prometheus and its promtool" ;;
	prometheus-alertmanager) echo "the way of an alert to a person is tested with Alertmanager" ;;
	chromium) echo "the browser tests need Chromium or Chrome" ;;
	esac
}

is_debian() { command -v apt-get >/dev/null && grep -qsE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

apt_install() {
	# RUNLEVEL=1 keeps a package from starting its service.
	local get=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0)
	local install=("${get[@]}" install -y --no-install-recommends "$@")
	# A fresh machine has no package lists.
	as_root "${install[@]}" >/dev/null 2>&1 || { as_root "${get[@]}" update && as_root "${install[@]}" >/dev/null; }
}

for need in "$@"; do
	has "$need" && continue
	packages=$(packages_of "$need")
	if ! is_debian || { [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; }; then
		echo "$(why "$need"): install it and try again (on Debian, as root: apt-get install $packages)" >&2
		exit 1
	fi
	echo "$(why "$need"): installing $packages with apt-get" >&2
	# shellcheck disable=SC2086 # a list of packages
	apt_install $packages || { [ "$need" = chromium ] && apt_install chromium; } # Ubuntu has no headless shell
	has "$need" || { echo "$packages are installed, yet $need is still not found" >&2 && exit 1; }
done
