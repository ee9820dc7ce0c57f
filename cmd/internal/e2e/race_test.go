//go:build race

package e2e_test

// raced tells that the test binary watches for data races; the processes it starts then do too.
const raced = true
