// Package kube is the root of a module of its own, so that the libraries of Helm and Kubernetes stay out of the
// service's go.mod.
//
// Package chart has the quick tests of the Helm chart, which need no cluster and which `make test` runs.
package kube
