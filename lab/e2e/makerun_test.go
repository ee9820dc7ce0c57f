package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// fakeGo makes a sandbox. Its build lasts until the file end exists, and fails where the file broken exists.
const fakeGo = `#!/bin/sh
case "$*" in
list*) echo "go: downloading example.com/module v1.0.0" >&2; echo a; echo b; echo c ;;
*" -o "*)
	echo example.com/module >&2
	until [ -e end ]; do sleep 0.05; done
	[ ! -e broken ] || { echo "x.go:1:2: undefined: y" >&2; exit 1; }
	mkdir -p bin
	printf '#!/bin/sh\necho the sandbox runs\n' >bin/sandbox
	cp bin/sandbox bin/admin && chmod +x bin/* ;;
esac
`

// makeRun prepares "make run" in a directory of its own, with fakeGo.
func makeRun(t *testing.T, dir string) (*exec.Cmd, *procs.OutputBuffer) {
	t.Helper()
	cmd, out := procs.Command(t.Context(), "make", "run"), &procs.OutputBuffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "path") + ":" + os.Getenv("PATH")}
	return cmd, out
}

func makeRunDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "scripts"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "path"), 0o755))
	for _, name := range []string{"Makefile", "scripts/build-run.sh", "scripts/steps.sh"} {
		content, err := os.ReadFile(filepath.Join(repository(), name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "path", "go"), []byte(fakeGo), 0o755))
	return dir
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
}

// TestMakeRun_TellsHowFarTheBuildIs: the first build takes a minute, in silence otherwise.
func TestMakeRun_TellsHowFarTheBuildIs(t *testing.T) {
	t.Parallel()
	dir := makeRunDir(t)
	cmd, out := makeRun(t, dir)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		return strings.Contains(out.String(), "s: 1 modules downloaded, 1 of 3 packages compiled\n")
	}, soon, often, "%s", out)
	require.True(t, strings.HasPrefix(out.String(), "# downloading modules …\n"), out.String())
	touch(t, dir, "end")
	require.NoError(t, cmd.Wait(), out.String())
	require.True(t, strings.HasSuffix(out.String(), " s\nthe sandbox runs\n"), out.String())
	require.FileExists(t, filepath.Join(dir, "bin", "admin"), "for the tour")
}

func TestMakeRun_AFailedBuild_ShowsTheMistakeAndStartsNothing(t *testing.T) {
	t.Parallel()
	dir := makeRunDir(t)
	touch(t, dir, "end")
	touch(t, dir, "broken")
	cmd, out := makeRun(t, dir)
	require.Error(t, cmd.Run())
	require.Contains(t, out.String(), "x.go:1:2: undefined: y\n")
	require.NotContains(t, out.String(), "the sandbox runs")
}
