//go:build tools

// Package kubernetes keeps the modules of the programs that build.sh builds in go.mod, since `go mod tidy` drops
// every module that nothing imports. The go.mod of Kubernetes needs a replacement for each part of Kubernetes, so
// this is a module separate from lab/kube.
package kubernetes

import (
	_ "k8s.io/kubectl/pkg/cmd"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-proxy/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "k8s.io/kubernetes/cmd/kubelet/app"
)
