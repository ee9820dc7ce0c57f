package closedlists_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
)

// linked lists the packages of the processes. The compiler is asked, since a build tag can hide an import from the
// linter.
func linked(t *testing.T) []string {
	t.Helper()
	list := procs.Command(t.Context(), "go", "list", "-deps", "./cmd/http", "./cmd/dispatcher", "./cmd/admin",
		"./cmd/partnerdeposits")
	list.Dir = root
	packages, err := list.Output()
	require.NoError(t, err)
	require.Contains(t, string(packages), "partnerdeposits/process/wire\n")
	return strings.Fields(string(packages))
}

// The build of the image sees only what its list of ignored files excepts: the floors, and what they embed from beside.
// There is a single list: all builders read .dockerignore, and BuildKit prefers a list beside the Containerfile.
func TestProcesses_LinkNothingOfTheLaboratory_AndNothingThatTheImageLacks(t *testing.T) {
	t.Parallel()
	require.NoFileExists(t, filepath.Join(docstest.RepositoryRoot(), "deployments/Containerfile.dockerignore"))
	seen := strings.Fields(docstest.ReadFile(t, ".dockerignore"))
	for _, floor := range docstest.LayerFolders() {
		require.Contains(t, seen, "!"+floor, ".dockerignore")
	}
	for _, linked := range linked(t) {
		folder, ours := strings.CutPrefix(linked, "partnerdeposits/")
		require.False(t, strings.HasPrefix(folder, "lab/"), "a process links %s", linked)
		require.True(t, !ours || slices.ContainsFunc(seen, func(line string) bool {
			return strings.HasPrefix(folder+"/", strings.TrimPrefix(line, "!")+"/")
		}), "the image is built without %s", linked)
	}
}
