# shellcheck shell=sh
set -eu
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 LC_ALL=C
policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/zz-no-main-cluster.conf
cleanup() {
	[ -z "${made_policy:-}" ] || rm -f "$policy"
	[ -z "${made_cluster:-}" ] || rm -f "$cluster"
	[ -z "${made_dir:-}" ] || rmdir "${cluster%/*}" || :
}
trap cleanup EXIT
if [ ! -e "$policy" ]; then
	made_policy=1
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
if [ "$1" = postgresql ] && [ ! -e "$cluster" ]; then
	made_cluster=1
	[ -d "${cluster%/*}" ] || made_dir=1
	mkdir -p "${cluster%/*}"
	echo 'create_main_cluster = false' >"$cluster"
fi
get() { apt-get -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@"; }
get install -y --no-install-recommends "$@" || { get update && get install -y --no-install-recommends "$@"; }
