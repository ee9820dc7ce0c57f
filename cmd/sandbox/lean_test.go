package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLean_LeavesOutWhatAFirstBuildNeedsNot: these libraries were a seventh of the time of the first `make run`.
func TestLean_LeavesOutWhatAFirstBuildNeedsNot(t *testing.T) {
	t.Parallel()
	built := []string{"partnerdeposits/cmd/sandbox", "partnerdeposits/cmd/admin"}
	out, err := exec.CommandContext(t.Context(), "go",
		append([]string{"list", "-tags=lean", "-deps"}, built...)...).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "partnerdeposits/process/wire\n")
	for _, library := range []string{"stripe-go", "payments/stripe", "google.golang.org/grpc", "otel/sdk"} {
		require.NotContains(t, string(out), library)
	}
}
