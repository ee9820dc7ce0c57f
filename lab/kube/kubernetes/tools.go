//go:build tools

// Package kubernetes imports the programs of Kubernetes that build.sh builds and lab/kube/node runs. Without the imports
// `go mod tidy` would drop them from go.mod. Kubernetes is no library, and its go.mod needs a replacement for each part
// of it: therefore this module is apart from lab/kube.
package kubernetes

import (
	_ "k8s.io/kubectl/pkg/cmd"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-proxy/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "k8s.io/kubernetes/cmd/kubelet/app"
)
