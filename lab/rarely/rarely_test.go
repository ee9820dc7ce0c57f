package rarely

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	g := Group{Name: "x", Paths: []string{"sdk", "docs/*.md"}}
	record := filepath.Join(root, "record")
	due := func() bool {
		now, err := g.hash(root)
		require.NoError(t, err)
		return g.due(root, now, record)
	}
	require.False(t, due(), "the last commit counts as tested")
	write("elsewhere.go", "two")
	write("sdk/__pycache__/a.pyc", "made")
	require.False(t, due())
	write("docs/new.md", "two")
	require.True(t, due(), "a file that git does not know yet")
	write("docs/new.md", "one")
	now, err := g.hash(root)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(record, []byte(now), 0o600))
	require.False(t, due(), "it was green")
	write("sdk/a.php", "two")
	git("add", ".")
	git("commit", "--quiet", "-m", "x")
	require.True(t, due(), "a commit tests nothing")
	write("sdk/a.php", "one")
	require.False(t, due())
	t.Setenv("CI", "true")
	require.True(t, due())
}

func TestHash_APathThatIsNotThere_IsAnError(t *testing.T) {
	t.Parallel()
	_, err := Group{Paths: []string{"nothing"}}.hash(t.TempDir())
	require.ErrorContains(t, err, "nothing names no file")
}

func TestGroups_NameFilesOfTheRepository(t *testing.T) {
	t.Parallel()
	root, folder, err := place()
	require.NoError(t, err)
	require.Equal(t, "lab/rarely", folder)
	for _, g := range groups {
		_, err := g.hash(root)
		require.NoError(t, err)
	}
	_, err = Needs(root)
	require.NoError(t, err)
}
