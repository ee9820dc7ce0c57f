package browsertest

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstalled_IsTheFirstThatIsThere(t *testing.T) {
	t.Parallel()
	const shell = "/usr/lib/chromium/chromium-headless-shell"
	machine := func(has ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(has, name) {
				return name, nil
			}
			return "", exec.ErrNotFound
		}
	}
	for want, has := range map[string][]string{
		shell:           {"google-chrome", "chromium", shell},
		"chromium":      {"chromium"},
		"google-chrome": {"google-chrome"},
	} {
		path, err := installed(machine(has...))
		require.NoError(t, err)
		assert.Equal(t, want, path)
	}
	_, err := installed(machine())
	require.EqualError(t, err, "install a browser: scripts/ensure-debian.sh chromium")
}

func TestInstalled_AnAbsolutePathWithoutFileIsNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	path, err := installed(exec.LookPath)
	if err == nil {
		require.FileExists(t, path)
	}
}
