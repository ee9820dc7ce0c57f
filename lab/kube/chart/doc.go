// Package chart renders the Helm chart for tests that need no cluster. Tests compare both sets of values with golden
// files, every object with the API server's schema, and the values with the settings of the service.
package chart
