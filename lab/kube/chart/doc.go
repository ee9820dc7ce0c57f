// Package chart tests the service's Helm chart without a cluster. The tests render the chart and compare both sets
// of values with golden files, every object with the API server's schema, and the values with the settings of the
// service.
package chart
