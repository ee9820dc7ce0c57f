//go:build tools

// Package kubernetes names the programs of Kubernetes that lab/kube/node runs, so that go.mod keeps them. build.sh builds
// them. Only this module knows Kubernetes itself, which is no library: go.mod replaces each of its parts.
package kubernetes

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-proxy/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "k8s.io/kubernetes/cmd/kubelet/app"
	_ "k8s.io/kubectl/pkg/cmd"
)
