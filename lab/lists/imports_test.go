package lists_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// TestProcesses_LinkNothingOfTheLaboratory asks the compiler, since a build tag can hide an import from the linter.
func TestProcesses_LinkNothingOfTheLaboratory(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/http", "./cmd/dispatcher", "./cmd/admin")
	list.Dir = root
	packages, err := list.Output()
	require.NoError(t, err)
	require.Contains(t, string(packages), "partnerdeposits/process/wire\n")
	for _, linked := range strings.Fields(string(packages)) {
		require.False(t, strings.HasPrefix(linked, "partnerdeposits/lab/"), "a process links %s", linked)
	}
}

// The build of the image sees only what its list of ignored files excepts.
func TestImage_IsBuiltFromEveryFloor(t *testing.T) {
	t.Parallel()
	seen := strings.Fields(docstest.Read(t, "deployments/Containerfile.dockerignore"))
	for _, floor := range docstest.Floors() {
		require.Contains(t, seen, "!"+floor, "deployments/Containerfile.dockerignore")
	}
}
