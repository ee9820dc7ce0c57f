#!/bin/bash
# Waits for the end of its standard input, which comes with the end of the process that holds the other end, for any
# reason. Then it ends and removes everything of a node: containers, programs, mounts, the bridge, rules and files.
#
# The environment gives the folder of the node, its bridge and name, and kube-proxy. The command line names no folder.
dir=$NODE_DIR bridge=$NODE_BRIDGE name=$NODE_NAME proxy=$NODE_PROXY
while read -r _; do :; done

# The programs of the node, and containerd's shims, name the folder in their command line.
ours() {
	local process
	for process in /proc/[0-9]*; do
		grep -qs -- "$dir" "$process/cmdline" && echo "${process#/proc/}"
	done
}
containers() { # are the children of shims
	local shim
	for shim in $(ours); do
		grep -qs containerd-shim "/proc/$shim/cmdline" && cat "/proc/$shim/task/$shim/children"
	done
}
sockets=$(sed 's|^unix://||' "$dir"/run/containerd/io.containerd.runtime.v2.task/k8s.io/*/address 2>/dev/null)
kill -KILL $(for process in $(ours); do
	grep -qs containerd-shim "/proc/$process/cmdline" || echo "$process"
done)
for _ in {1..50}; do
	left=$(containers)
	[ -z "$left" ] && break
	kill -KILL $left
	sleep 0.1
done
for _ in {1..50}; do
	left=$(ours)
	[ -z "$left" ] && break
	kill -KILL $left
	sleep 0.1
done
rm -f $sockets

grep -s " $dir/" /proc/self/mounts | cut -d' ' -f2 | sort -r | while read -r mount; do umount -l "$mount"; done
"$proxy" --cleanup
iptables -w -D FORWARD -i "$bridge" -o "$bridge" -j ACCEPT
ip link del "$bridge"
find /sys/fs/cgroup -depth -type d -path "*/k8s.io*" -exec rmdir {} + 2>/dev/null # takes empty ones alone
grep -ls -- "$dir" /var/lib/cni/results/* | xargs -r rm -f
rmdir /var/lib/kubelet/device-plugins /var/lib/kubelet 2>/dev/null
[ -d /var/log/containers ] && find /var/log/containers -lname "$dir/*" -delete
(cd /proc/sys && while IFS='=' read -r setting value; do echo "$value" >"$setting"; done) <"$dir/sysctls"
rm -rf -- "$dir"
