#!/usr/bin/env bash
# Builds the programs of Kubernetes, kubectl and Helm, once, into a folder of the user's cache, and prints that folder. All
# come from the Go module proxy. A build takes minutes, and says how many.
#
#   lab/kube/kubernetes/build.sh
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false

kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
helm=v4.0.5 # its client is that of Kubernetes 1.34
folder=${XDG_CACHE_HOME:-$HOME/.cache}/partnerdeposits/kubernetes/$kubernetes-$(go env GOVERSION)
commands=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl)
mkdir -p "$folder"
exec 9>"$folder/lock" && flock 9 # two builds at a time would do the work twice

# build NAME COMMAND…: the command puts programs into $partial; they move only when all are whole.
build() {
	local begun=$SECONDS
	partial=$(mktemp -d "$folder/partial-XXXXXX")
	echo "building $1, once: this takes minutes" >&2
	"${@:2}" >&2
	mv "$partial"/* "$folder/" && rmdir "$partial"
	echo "built $1 in $((SECONDS - begun)) s, into $folder" >&2
}
# A build from Go modules knows no version of Kubernetes, and charts ask for it.
minor=${kubernetes#v1.}
minor=${minor%.*}
of_kubernetes() {
	local version=k8s.io/component-base/version
	nice -n 15 go build -trimpath -o "$partial/" \
		-ldflags "-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=$minor" \
		"${commands[@]/#/k8s.io/kubernetes/cmd/}"
}
of_helm() {
	local common=helm.sh/helm/v4/pkg/chart/common
	GOBIN=$partial nice -n 15 go install -trimpath \
		-ldflags "-s -w -X $common.k8sVersionMajor=1 -X $common.k8sVersionMinor=$minor" "helm.sh/helm/v4/cmd/helm@$helm"
}

missing() { for name in "$@"; do [ -x "$folder/$name" ] || return 0; done; return 1; }
if missing "${commands[@]}"; then build "Kubernetes $kubernetes" of_kubernetes; fi
if missing helm; then build "Helm $helm" of_helm; fi
echo "$folder"
