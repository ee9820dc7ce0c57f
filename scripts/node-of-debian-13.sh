#!/usr/bin/env bash
# Installs Node of Debian 13 on Debian 12, whose own Node is older than the partners' library asks for, and prints its path. It
# stands in /opt with all its libraries, and upgrades no package of the system.
set -euo pipefail

# As long as /usr/share/nodejs, where libnode has the names of its own modules compiled in.
root=/opt/nodejs-deb13

install_node() {
	local scratch archive interpreter libraries
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' RETURN
	mkdir -p "$scratch"/{state/lists,cache/archives}/partial
	archive=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
	echo "deb $archive trixie main" >"$scratch/sources.list"
	local apt=(apt-get -qq -o APT::Sandbox::User=root -o Acquire::Languages=none
		-o Dir::Etc::sourcelist="$scratch/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State="$scratch/state" -o Dir::State::status=/dev/null -o Dir::Cache="$scratch/cache")
	"${apt[@]}" update
	"${apt[@]}" install -y --no-install-recommends --download-only nodejs >/dev/null
	rm -rf "$root.new" && mkdir "$root.new"
	for package in "$scratch"/cache/archives/*.deb; do dpkg -x "$package" "$root.new"; done

	libraries=$(cd "$root.new" && dirname usr/lib/*/libnode.so.*)
	interpreter=$(patchelf --print-interpreter "$root.new/usr/bin/node")
	patchelf --set-interpreter "$root/usr$interpreter" --force-rpath --set-rpath "$root/$libraries" "$root.new/usr/bin/node"
	sed -i "s#/usr/share/nodejs/#$root/#g" "$root.new/$libraries"/libnode.so.*
	mv "$root.new"/usr/share/nodejs/* "$root.new/"
	rmdir "$root.new/usr/share/nodejs" && ln -s /usr/share/nodejs "$root.new/usr/share/nodejs" # npm and Express are Debian 12's
	rm -rf "$root" && mv "$root.new" "$root"
}

[ -x "$root/usr/bin/node" ] || install_node
echo "$root/usr/bin/node"
