package rarely

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// checkout makes a repository of git with a file, and gives its root, and functions that write and commit.
func checkout(t *testing.T) (root string, write func(file, text string), git func(args ...string)) {
	t.Helper()
	root = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", root, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
	}
	write = func(file, text string) {
		t.Helper()
		path := filepath.Join(root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	git("init", "--quiet")
	write(".gitignore", "__pycache__\n")
	write("sdk/a.php", "one")
	write("docs/page.md", "one")
	git("add", ".")
	git("commit", "--quiet", "-m", "x")
	return root, write, git
}

// The variable CI is that of the process, so the test does not run in parallel.
func TestDue_OnceFilesOfTheGroupHaveChanged(t *testing.T) {
	t.Setenv("CI", "")
	root, write, git := checkout(t)
	g := TestGroup{Name: "x", Paths: []string{"sdk", "docs/*.md"}}
	require.False(t, g.due(root), "the last commit counts as tested")
	git("branch", "upstream")
	git("branch", "--set-upstream-to=upstream")
	write("elsewhere.go", "two")
	write("sdk/__pycache__/a.pyc", "made")
	require.False(t, g.due(root))
	write("docs/new.md", "two")
	require.True(t, g.due(root), "a file that git does not know yet")
	git("add", ".")
	git("commit", "--quiet", "-m", "x")
	require.True(t, g.due(root), "a commit tests nothing")
	git("branch", "--force", "upstream")
	require.False(t, g.due(root))
	write("sdk/a.php", "two")
	require.True(t, g.due(root))
	git("commit", "--quiet", "-a", "-m", "x")
	git("branch", "--force", "upstream")
	git("checkout", "--quiet", "-B", "behind", "HEAD~1")
	git("branch", "--set-upstream-to=upstream")
	require.False(t, g.due(root), "what others have changed meanwhile is no change of ours")
	t.Setenv("CI", "true")
	require.True(t, g.due(root))
}

func TestGroups_NameFilesOfTheRepository(t *testing.T) {
	t.Parallel()
	for _, g := range []TestGroup{LibraryTests, DocumentTests, MonitoringTests, PageTests, DeploymentTests} {
		for _, pattern := range g.Paths {
			found, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), pattern))
			require.NoError(t, err)
			require.NotEmpty(t, found, pattern)
		}
	}
}
