#!/usr/bin/env bash
# Checks that the machine has the named tools for tests, and installs missing tools on Debian or Ubuntu. The tests
# themselves ask for postgresql and redis-server, where they find no server (lab/backing).
#
#   scripts/ensure-debian.sh gcc chromium
#
# SUDO is the command that makes an ordinary user root; with "sudo -n" it asks for no password.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/.local/bin:$PATH # as in the Makefile

has() {
	case $1 in
	gcc) echo '#include <stdlib.h>' | $(go env CC) -E - >/dev/null 2>&1 ;;
	curl) command -v curl >/dev/null ;;
	docker-compose) command -v docker-compose >/dev/null ;;
	openssl) command -v openssl >/dev/null ;;
	haproxy) PATH=$PATH:/usr/sbin command -v haproxy >/dev/null ;;
	pgbouncer) command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] ;;
	pg_dump) command -v pg_dump >/dev/null ;;
	postgresql) command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ;;
	redis-server) PATH=$PATH:/usr/bin command -v redis-server >/dev/null ;;
	pgbench) command -v pgbench >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/pgbench' >/dev/null ;;
	prometheus) command -v prometheus >/dev/null && command -v promtool >/dev/null ;;
	prometheus-alertmanager) command -v prometheus-alertmanager >/dev/null || command -v alertmanager >/dev/null ;;
	php) command -v php phpunit composer >/dev/null && php -r 'exit(extension_loaded("curl") ? 0 : 1);' &&
		[ -d /usr/share/php/Symfony/Component/HttpKernel ] && [ -d /usr/share/php/Symfony/Component/Routing ] &&
		[ -d /usr/share/php/Illuminate/Routing ] ;;
	node) node -e '[a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null &&
		command -v tsc >/dev/null && [ -d /usr/share/nodejs/express ] ;;
	npm) command -v npm >/dev/null ;;
	etcd) command -v etcd >/dev/null ;;
	containerd) command -v containerd >/dev/null && PATH=$PATH:/usr/sbin command -v runc >/dev/null ;;
	cni) [ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] ;;
	iptables) PATH=$PATH:/usr/sbin command -v iptables >/dev/null ;;
	systemd-analyze) command -v systemd-analyze >/dev/null ;;
	python) /usr/bin/python3 -c 'import setuptools, wheel, django, fastapi, flask, mypy, pip, pytest' 2>/dev/null ;;
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
	openssl) echo openssl ;;
	haproxy) echo haproxy ;;
	pgbouncer) echo pgbouncer ;;
	pg_dump) echo postgresql-client ;;
	postgresql | pgbench) echo postgresql ;;
	redis-server) echo redis-server ;;
	chromium) echo chromium-headless-shell ;; # without windows: quicker, and smaller than chromium
	prometheus) echo prometheus ;;
	prometheus-alertmanager) echo prometheus-alertmanager ;;
	php) echo "php-cli php-curl phpunit composer php-laravel-framework php-symfony-http-kernel php-symfony-routing" ;;
	node) echo "nodejs node-express node-typescript" ;;
	npm) echo npm ;;
	etcd) echo etcd-server ;;
	containerd) echo "containerd runc" ;;
	cni) echo containernetworking-plugins ;;
	iptables) echo iptables ;;
	systemd-analyze) echo systemd ;;
	python) echo "python3-django python3-fastapi python3-flask mypy" \
		"python3-pip python3-pytest python3-setuptools python3-wheel" ;;
	esac
}

why() {
	case $1 in
	gcc) echo "the race detector needs a C compiler with its headers" ;;
	curl) echo "the tour of the sandbox, which a test walks, uses curl" ;;
	docker-compose) echo "a test reads deployments/compose.yaml with docker-compose" ;;
	openssl) echo "signatures of a release are verified with openssl" ;;
	haproxy) echo "the tests behind a proxy use haproxy" ;;
	pgbouncer) echo "the service is tested behind PgBouncer" ;;
	postgresql) echo "the service is tested on Postgres" ;;
	redis-server) echo "the service is tested on Redis" ;;
	pgbench) echo "the benchmark compares the service with pgbench" ;;
	pg_dump) echo "a restore from a backup is tested with pg_dump" ;;
	prometheus) echo "alerts and dashboards are tested with Prometheus and its promtool" ;;
	prometheus-alertmanager) echo "the way of an alert to a person is tested with Alertmanager" ;;
	chromium) echo "the browser tests need Chromium or Chrome" ;;
	php) echo "the library for PHP is tested with PHP, PHPUnit, Composer, Laravel and Symfony" ;;
	node) echo "the library for Node is tested with Node 20.19 or newer, TypeScript and Express" ;;
	etcd) echo "the Kubernetes of the tests keeps its objects in etcd" ;;
	containerd) echo "the Kubernetes of the tests runs containers with containerd and runc" ;;
	cni) echo "the Kubernetes of the tests joins its pods with the CNI plug-in bridge" ;;
	iptables) echo "the Kubernetes of the tests reaches Services through iptables" ;;
	systemd-analyze) echo "the units of systemd are checked by the program that reads them" ;;
	npm) echo "the library for Node is packed and installed with npm" ;;
	python) echo "the library for Python is tested with pytest, mypy, pip, FastAPI and others of /usr/bin/python3" ;;
	esac
}

is_debian() { command -v apt-get >/dev/null && grep -qsE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release; }

# shellcheck disable=SC2086 # a command with its flags
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else ${SUDO:-sudo} "$@"; fi; }

made=() # files that stand only while packages are installed
trap '[ ${#made[@]} = 0 ] || as_root rm -f "${made[@]}"' EXIT
put() { # file, mode, text
	[ -e "$1" ] && return
	made+=("$1")
	printf '%b' "$3" | as_root install -D -m "$2" /dev/stdin "$1"
}

apt_install() {
	# No package starts its service, or makes a cluster of Postgres.
	put /usr/sbin/policy-rc.d 755 '#!/bin/sh\nexit 101\n'
	case " $* " in *' postgresql '*)
		put /etc/postgresql-common/createcluster.d/zz-no-main-cluster.conf 644 'create_main_cluster = false\n' ;;
	esac
	local get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0)
	local install=("${get[@]}" install -y --no-install-recommends "$@")
	# A fresh machine has no package lists.
	as_root "${install[@]}" >/dev/null 2>&1 || { as_root "${get[@]}" update && as_root "${install[@]}" >/dev/null; }
}

exec 9<scripts/ensure-debian.sh
for need in "$@"; do
	has "$need" && continue
	packages=$(packages_of "$need")
	if ! is_debian || { [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; }; then
		echo "$(why "$need"): install it and try again (on Debian, as root: apt-get install $packages)" >&2
		exit 1
	fi
	flock 9 # programs that need the same install in turn
	has "$need" && continue
	echo "$(why "$need"): installing $packages with apt-get" >&2
	# shellcheck disable=SC2086 # a list of packages
	apt_install $packages || { [ "$need" = chromium ] && apt_install chromium; } # Ubuntu has no headless shell
	if [ "$need" = node ] && ! has node && grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
		apt_install patchelf debian-archive-keyring
		mkdir -p .local/bin && ln -sfn "$(as_root scripts/node-of-debian-13.sh)" .local/bin/node
	fi
	hash -r # bash remembers where it found a program
	has "$need" || { echo "$packages are installed, yet $need is still not found" >&2 && exit 1; }
done
