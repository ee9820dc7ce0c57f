//go:build race

package e2e_test

// raced tells that the test binary has the race detector; the processes that tests start then have the detector, too.
const raced = true
