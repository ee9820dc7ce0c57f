// Package chart tests the service's Helm chart without a cluster, against golden files, the API server's schema
// and the settings of the service.
package chart
